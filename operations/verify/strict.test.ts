/** A run of many files that goes on where it was ended. */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openVerdicts, type Verdict } from './strict.ts';

const verdict = (file: string, ...faults: string[]): Verdict => ({
  ...{ file, summary: '1 of 1 tests pass', seconds: 2, faults },
});
const openFolder = async () => {
  const folder = await mkdtempDisposable(join(tmpdir(), 'sallyport-verdicts-'));
  return { path: join(folder.path, 'new', 'verdicts.json'), [Symbol.asyncDispose]: () => folder.remove() };
};

test('the next run has those that passed, and runs one with a fault again', async () => {
  await using place = await openFolder();
  const first = await openVerdicts(place.path, 'a state');
  await first.record(verdict('good'));
  await first.record(verdict('bad', 'one test: it failed'));
  const next = await openVerdicts(place.path, 'a state');
  expect(['good', 'bad', 'new'].map(next.hasPassed)).toEqual([true, false, false]);
  expect(next.of('bad')).toEqual(verdict('bad', 'one test: it failed'));
  await next.record(verdict('bad'));
  expect((await openVerdicts(place.path, 'a state')).hasPassed('bad')).toBe(true);
});

test('the verdicts of another state are dropped', async () => {
  await using place = await openFolder();
  await (await openVerdicts(place.path, 'a state')).record(verdict('good'));
  const other = await openVerdicts(place.path, 'another state');
  expect(other.of('good')).toBeUndefined();
  await other.record(verdict('late'));
  expect((await openVerdicts(place.path, 'another state')).of('good')).toBeUndefined();
});
