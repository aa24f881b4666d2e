/**
 * The cost of an hour's due items, from 100 to 100,000 of them, in virtual time: table calls and items read for each, beyond
 * those of an hour in which nothing is due.
 */
import { type FloodReport, flood } from '../../tests/simulation/flood.ts';
import { type BenchResult, table } from './report.ts';

const countsOfBench = [100, 1000, 10_000, 100_000];
/** Beyond the first: the rounds of a sweep that has more to do read the shards once more. */
const growthMax = 1.05;
/** The longest time from the moment at which an item is due to its sweep, in virtual milliseconds. */
const lateMsMax = 75_000;

type Costs = FloodReport & { readonly count: number; readonly calls: number; readonly itemsRead: number };

/** Each item's part. */
export const floodCosts = async (counts: readonly number[]): Promise<readonly Costs[]> => {
  const idle = await flood(0);
  const costs: Costs[] = [];
  for (const count of counts) {
    const report = await flood(count);
    const calls = (report.calls - idle.calls) / count;
    costs.push({ ...report, count, calls, itemsRead: (report.itemsRead - idle.itemsRead) / count });
  }
  return costs;
};

/** True when all was done in time, and no item costs more than one of the first. */
export const isFlat = (costs: readonly Costs[]): boolean => {
  const [first] = costs;
  return costs.every(
    ({ calls, itemsRead, left, lateMsMax: late, reported }) =>
      first !== undefined &&
      calls <= first.calls * growthMax &&
      itemsRead <= first.itemsRead * growthMax &&
      left === 0 &&
      late <= lateMsMax &&
      reported.length === 0,
  );
};

export const floodCost = async (): Promise<BenchResult> => {
  const costs = await floodCosts(countsOfBench);
  return {
    title: 'items that become due within an hour of virtual time',
    text: table(
      ['due items', 'table calls each', 'items read each', 'left', 'late by s at most', 'busiest shard'],
      costs.map(({ count, calls, itemsRead, left, lateMsMax: late, shardShareMax }) => [
        count.toLocaleString('en'),
        calls.toFixed(2),
        itemsRead.toFixed(2),
        left,
        (late / 1000).toFixed(1),
        `${(100 * shardShareMax).toFixed(1)} %`,
      ]),
    ),
    floor: `all done within the hour, none later than ${lateMsMax / 1000} s; each at the cost of one of ${countsOfBench[0]}, but for ${Math.round(100 * (growthMax - 1))} %`,
    isMet: isFlat(costs),
  };
};
