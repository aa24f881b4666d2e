import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readEnvironment } from '#shared/config/environment.ts';
import { named, ofType, type Synthesised, synthesise } from '../stacks/synthesise.ts';
import { checks } from './event-rules.ts';
import { inRepository } from './repository-path.ts';

const byDefault = synthesise();
const off = synthesise({ settings: { variables: { SYNTHETIC_CHECK: 'false' } } });

const functionOf = ({ compute }: Synthesised) =>
  named(compute, 'AWS::Lambda::Function', 'FunctionssyntheticFunction').Properties;
const rulesOf = ({ edge }: Synthesised) =>
  ofType(edge, 'AWS::Events::Rule')
    .map(({ Properties }) => ({
      rate: Properties.ScheduleExpression,
      input: JSON.stringify(Properties.Targets[0].InputTransformer ?? Properties.Targets[0].Input),
      retry: Properties.Targets[0].RetryPolicy,
    }))
    .filter(({ input }) => input.includes('\\"check\\"'));

describe('the synthetic check', () => {
  test('is on unless it is switched off', () => {
    expect(readEnvironment('synthetic', { TABLE_NAME: 't', DEPLOYMENT: 'd' }).SYNTHETIC_CHECK).toBe(true);
    expect(functionOf(byDefault).Environment.Variables.SYNTHETIC_CHECK ?? 'the default').not.toBe('false');
    expect(functionOf(off).Environment.Variables.SYNTHETIC_CHECK).toBe('false');
    expect(rulesOf(off)).toEqual([]);
  });

  test('runs every five minutes and with a sandbox every hour, and is never retried', () => {
    const retry = { MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 0 };
    expect(rulesOf(byDefault)).toEqual([
      { rate: 'rate(5 minutes)', input: expect.stringContaining('\\"check\\":\\"turn\\"'), retry },
      { rate: 'rate(1 hour)', input: expect.stringContaining('\\"check\\":\\"sandbox\\"'), retry },
    ]);
    const [config] = ofType(byDefault.compute, 'AWS::Lambda::EventInvokeConfig').filter(({ Properties }) =>
      JSON.stringify(Properties.FunctionName).includes('synthetic'),
    );
    expect(config?.Properties).toMatchObject({ MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 0 });
  });

  test('has a rule for each kind, and an alarm on the metric of each', () => {
    const source = readFileSync(inRepository('functions/synthetic/check.ts'), 'utf8');
    const kinds = [...source.matchAll(/^ {2}(\w+): \{\n(?: {4}.*\n)*? {4}metric: '(\w+)'/gm)];
    expect(kinds.map(([, check, metricName]) => ({ check, metricName }))).toEqual(
      checks.map(({ check, metricName }) => ({ check, metricName })),
    );
  });

  test('ends before the next check of its kind starts', () => {
    expect(functionOf(byDefault).Timeout).toBeLessThanOrEqual(5 * 60);
  });

  test('uses the public address, like users', () => {
    for (const { input } of rulesOf(byDefault)) expect(input).toContain('https://');
  });
});
