/**
 * One tool call of a program in a sandbox, in the slices that pay for its session: whether one is left (TM9).
 *
 * Nothing is reserved for it, because it is counted before it is made. If pending answers of models have reserved what is left,
 * it waits.
 */
import type { SessionId } from './ids.ts';
import { leftFor, type Tree } from './tree-budget.ts';
import { leastOf, restOf } from './tree-slice.ts';

export type ToolCallUse = 'counted' | 'busy' | 'spent';

type Asked = { readonly slices: readonly SessionId[]; readonly at: number };

/** `counted`: it may be counted, and made. */
export const decideToolCall = (tree: Tree, { slices, at }: Asked): ToolCallUse => {
  if (leastOf(tree, slices, (slice) => restOf(slice, 'toolCalls')) < 1) return 'spent';
  return toolCallsLeft(tree, { slices, at }) < 1 ? 'busy' : 'counted';
};

/** Of these slices together, without those that others have reserved. */
export const toolCallsLeft = (tree: Tree, { slices, at }: Asked): number =>
  leftFor(tree, { session: '' as SessionId, at, usdMax: 0, slices }).toolCalls;
