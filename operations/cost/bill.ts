/** A bill: priced amounts of a month, each under a word for its purpose, less the free tier of an account. */
import type { FunctionName } from '#shared/config/environment.ts';
import { freeAmounts, type PriceName, prices } from './prices.ts';
import type { Run, Work } from './work.ts';

/** An amount of something with a price, in a month. */
export type Item = { readonly what: string; readonly price: PriceName; readonly amount: number };

export type Bill = {
  /** The most expensive first; free items are left out. */
  readonly lines: readonly { readonly what: string; readonly usd: number }[];
  /** The free part, in an account whose free tiers nothing else uses. */
  readonly freeUsd: number;
  /** The rest, which is paid. */
  readonly usd: number;
};

const bytesOfGb = 1024 ** 3;

/** The items of work that is done a number of times. */
export const itemsOf = (
  what: string,
  work: Work,
  { times, memory }: { readonly times: number; readonly memory: FunctionMemory },
): readonly Item[] => {
  const amounts = [
    ...work.runs.flatMap((run) => Object.entries(functionAmounts(run, memory))),
    ...Object.entries({ ...work.amounts, logGb: work.logBytes / bytesOfGb }),
  ];
  return amounts.map(([price, amount]) => ({ what, price: price as PriceName, amount: amount * times }));
};

export const usdOf = (items: readonly Item[]): number =>
  items.reduce((total, { price, amount }) => total + prices[price].usd * amount, 0);

export const billOf = (items: readonly Item[]): Bill => {
  const lines = [...Map.groupBy(items, ({ what }) => what)]
    .map(([what, same]) => ({ what, usd: usdOf(same) }))
    .filter(({ usd }) => usd > 0)
    .toSorted((a, b) => b.usd - a.usd);
  const freeUsd = [...Map.groupBy(items, ({ price }) => price)].reduce((total, [price, same]) => {
    const amount = same.reduce((sum, item) => sum + item.amount, 0);
    return total + prices[price].usd * Math.min(amount, freeAmounts[price] ?? 0);
  }, 0);
  return { lines, freeUsd, usd: usdOf(items) - freeUsd };
};

/** In GB. */
export type FunctionMemory = (name: FunctionName) => number;

const functionAmounts = (
  { name, count, seconds }: Run,
  memory: FunctionMemory,
): Partial<Record<PriceName, number>> => ({
  lambdaRequest: count,
  lambdaGbSecondArm: count * seconds * memory(name),
});

/** The Fargate tasks of the flavors in `shared/domain/flavor.ts`, which a bill may not import: a test compares them. */
export const taskSizes = {
  micro: { cpuUnits: 512, memoryMib: 1024 },
  small: { cpuUnits: 1024, memoryMib: 2048 },
  medium: { cpuUnits: 2048, memoryMib: 4096 },
  large: { cpuUnits: 4096, memoryMib: 8192 },
} as const;

export type FlavorName = keyof typeof taskSizes;

export const sandboxItems = (what: string, flavor: FlavorName, hours: number): readonly Item[] => {
  const { cpuUnits, memoryMib } = taskSizes[flavor];
  return [
    { what, price: 'fargateVcpuArm', amount: (hours * cpuUnits) / 1024 },
    { what, price: 'fargateGbArm', amount: (hours * memoryMib) / 1024 },
  ];
};

export const sandboxHour = (flavor: FlavorName): number => usdOf(sandboxItems('', flavor, 1));
