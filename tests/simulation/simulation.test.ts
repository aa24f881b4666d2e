/** Some dozens of worlds, each from its own seed, in which everything fails that may: what is promised holds in all of them. */
import { expect, test } from 'vitest';
import { reportOf } from './report.ts';
import { runSeed } from './run.ts';

/** Seeds that once broke a promise stay. */
const remembered = [
  7, 12, 109, 197, 414, 544, 555, 950, 1092, 1320, 1330, 1394, 1445, 1646, 10839, 30490, 31538, 70322, 33,
  101, 512340279, 239,
];

/** A few seconds on a machine that does nothing else. */
const timeoutMs = 240_000;

const brokenIn = async (seeds: readonly number[]): Promise<readonly string[]> => {
  const reports: string[] = [];
  for (const seed of seeds) {
    const run = await runSeed(seed);
    if (run.broken !== undefined) reports.push(reportOf(run));
  }
  return reports;
};

const seedsFrom = (first: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => first + index);

test('all guarantees hold in sixty worlds', { timeout: timeoutMs }, async () => {
  expect(await brokenIn(seedsFrom(1, 60))).toEqual([]);
});

test('and in those that once broke one', { timeout: timeoutMs }, async () => {
  expect(await brokenIn(remembered)).toEqual([]);
});

test('a seed produces the same world again', async () => {
  const [one, other] = [await runSeed(17), await runSeed(17)];
  const seen = ({ steps, trace }: typeof one) => ({
    steps,
    trace: trace.map(({ at, who, what }) => [at, who, what]),
  });
  expect(seen(one)).toEqual(seen(other));
  expect(one.steps).toBeGreaterThan(100);
});
