/** What a run of a function is paid by: the request, and its memory for as long as it runs. */
import type { FunctionName } from '#shared/config/environment.ts';
import type { PriceName } from './prices.ts';

export type Run = { readonly name: FunctionName; readonly count: number; readonly seconds: number };

/** In GB. */
export type FunctionMemory = (name: FunctionName) => number;

export const functionAmounts = (
  { name, count, seconds }: Run,
  memory: FunctionMemory,
): Partial<Record<PriceName, number>> => ({
  lambdaRequest: count,
  lambdaGbSecondArm: count * seconds * memory(name),
});
