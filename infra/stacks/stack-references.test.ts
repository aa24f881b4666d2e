import { describe, expect, test } from 'vitest';
import { stages } from '../settings.ts';
import { readOutputs, type StackName, synthesise } from './synthesise.ts';

/** The order in which they are deployed. */
const order: readonly StackName[] = ['data', 'network', 'compute', 'edge', 'observability'];

describe.each(Object.keys(stages) as (keyof typeof stages)[])('the stacks of stage %s', (stage) => {
  const settings = stages[stage];
  const templates = synthesise({ settings });
  const entries = order.map((name) => [name, templates[name]] as const);

  test('export nothing and import nothing: what one releases, no other can lock', () => {
    for (const [name, template] of entries) {
      expect([name, JSON.stringify(template)]).not.toEqual([
        name,
        expect.stringContaining('Fn::ImportValue'),
      ]);
      const outputs = Object.values(template.Outputs ?? {});
      expect([name, outputs.filter(({ Export }) => Export !== undefined)]).toEqual([name, []]);
    }
  });

  test('read only outputs that are there, of stacks that are deployed before them', () => {
    const known: string[] = [];
    for (const [name, template] of entries) {
      expect([name, readOutputs(template).filter((output) => !known.includes(output))]).toEqual([name, []]);
      known.push(
        ...Object.keys(template.Outputs ?? {}).map((output) => `${settings.deployment}-${name} ${output}`),
      );
    }
    expect(known.length).toBeGreaterThan(30);
  });
});
