import { expect, test } from 'vitest';
import type { SessionId } from './ids.ts';
import { differencesOf } from './sandbox-differences.ts';

const environment = (fingerprint: string) => ({ of: 's' as SessionId, names: ['A'], fingerprint });
const runs = { flavor: 'small', template: 'python', environment: environment('one') } as const;

test('only what was asked for can differ', () => {
  const other = { flavor: 'micro', template: 'node' } as const;
  expect(differencesOf({}, other, runs)).toEqual([]);
  expect(differencesOf({ flavor: 'micro', template: 'node' }, other, runs)).toEqual(['flavor', 'template']);
  expect(differencesOf({ flavor: 'SMALL' }, runs, runs)).toEqual([]);
});

test('an environment is the same one by its variables, whichever session gave it', () => {
  const asked = { environment: {} };
  const same = { ...runs, environment: { ...environment('one'), of: 'other' as SessionId } };
  expect(differencesOf(asked, same, runs)).toEqual([]);
  expect(differencesOf(asked, { ...runs, environment: environment('two') }, runs)).toEqual(['env']);
  const { environment: _, ...bare } = runs;
  expect(differencesOf(asked, runs, bare)).toEqual(['env']);
});
