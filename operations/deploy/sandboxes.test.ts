import { expect, test } from 'vitest';
import { settingsOf } from '../../infra/settings.ts';
import { synthesise } from '../../infra/stacks/synthesise.ts';
import { openAws } from './aws.ts';
import type { Inventory } from './inventory.ts';
import type { Programs } from './programs.ts';
import { openFunctions } from './sandboxes.ts';

const settings = settingsOf('hardened');
const functions = Object.entries(synthesise({ settings }).compute.Resources).filter(
  ([, { Type }]) => Type === 'AWS::Lambda::Function',
);

/** CloudFormation makes the name of a function that has none, from those of its stack and its resource. */
const inventory: Inventory = {
  stacks: [],
  ofType: () =>
    functions.map(([id, { Type: type, Properties }]) => ({
      id,
      type,
      physicalId: Properties.FunctionName ?? `sallyport-hardened-compute-${id}-ABCDEFGHIJKL`,
    })),
};

test('functions are opened with the concurrency that the template reserves for them, also those that CloudFormation names', async () => {
  const opened = new Map<string, string | undefined>();
  const programs: Programs = {
    quiet: async (_, args) => {
      const of = (flag: string): string | undefined =>
        args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined;
      opened.set(of('--function-name') ?? '', of('--reserved-concurrent-executions'));
      return { code: 0, out: '', error: '' };
    },
    shown: async () => 0,
  };
  await openFunctions({ aws: openAws(programs, 'eu-central-1'), say: () => undefined }, settings, inventory);
  const reserved = functions.flatMap(([id, { Properties }]) => {
    const { ReservedConcurrentExecutions: count, FunctionName } = Properties;
    const name = FunctionName ?? `sallyport-hardened-compute-${id}-ABCDEFGHIJKL`;
    return count === undefined ? [] : [[name, String(count)]];
  });
  expect(reserved.length).toBeGreaterThan(1);
  expect(Object.fromEntries([...opened].filter(([, count]) => count !== undefined))).toEqual(
    Object.fromEntries(reserved),
  );
});
