/**
 * The part of its tree's budget that a session was given, for itself and all below it: money, tokens, tool calls, sandbox time
 * and bytes of egress. It limits only what it names, and records how much of each was used (docs/spec/sessions.md: TM8, TM9,
 * TM10, TM11).
 */
import type { SessionId } from './ids.ts';
import type { TokenUsage } from './model.ts';

/** Reserved with calls of models: US dollars, tokens of input and output, and calls of tools that answers ask for. */
export type Measure = 'usd' | 'tokens' | 'toolCalls';
/**
 * Counted as they are used: milliseconds of the lives of sandboxes, from the request to the confirmed stop; and bytes that were exchanged
 * with hosts outside, both ways.
 */
export type CountedMeasure = 'sandboxMs' | 'egressBytes';

export type Slice = {
  /** `anyUsd` where it bounds no money. */
  readonly usdMax: number;
  readonly spentUsd: number;
  readonly unsettledUsd: number;
  /** Absent: it bounds none. Made by an older version, it counts none either. */
  readonly tokensMax?: number | undefined;
  readonly tokens?: number | undefined;
  /** Of calls whose usage is unknown. */
  readonly unsettledTokens?: number | undefined;
  readonly toolCallsMax?: number | undefined;
  readonly toolCalls?: number | undefined;
  readonly sandboxMsMax?: number | undefined;
  /** Of sandboxes that are stopped. */
  readonly sandboxMs?: number | undefined;
  /** The others, by name: the beginning of each, in epoch milliseconds. */
  readonly sandboxes?: Readonly<Record<string, number>> | undefined;
  readonly egressBytesMax?: number | undefined;
  readonly egressBytes?: number | undefined;
};

/** The limits of a slice as they are given. Absent: it bounds none. */
export type SliceLimits = Partial<Readonly<Record<`${Measure | CountedMeasure}Max`, number | undefined>>>;

/** More than any tree may spend. */
export const anyUsd = 100_000;

export const newSlice = ({ usdMax = anyUsd, sandboxMsMax, ...others }: SliceLimits): Slice => ({
  ...{ usdMax, spentUsd: 0, unsettledUsd: 0 },
  ...(others.tokensMax === undefined ? {} : { tokensMax: others.tokensMax }),
  ...(others.toolCallsMax === undefined ? {} : { toolCallsMax: others.toolCallsMax }),
  ...(sandboxMsMax === undefined ? {} : { sandboxMsMax, sandboxes: {} }),
  ...(others.egressBytesMax === undefined ? {} : { egressBytesMax: others.egressBytesMax }),
});

export const isSlice = ({
  usdMax,
  tokensMax,
  toolCallsMax,
  sandboxMsMax,
  egressBytesMax,
}: SliceLimits): boolean =>
  [usdMax, tokensMax, toolCallsMax, sandboxMsMax, egressBytesMax].some((max) => max !== undefined);

type Slices = { readonly slices?: readonly SessionId[] };

/** The position of a session of a branch, at whose top `top` is, when that branch is given a slice. */
export const withSliceOf = <Tree extends Slices>(
  tree: Tree,
  top: { readonly id: SessionId; readonly tree?: Slices | undefined },
): Tree => {
  const { slices = [] } = tree;
  if (slices.includes(top.id)) return tree;
  const above = (top.tree?.slices ?? []).filter((id) => id !== top.id);
  return { ...tree, slices: [...above, top.id, ...slices.slice(above.length)] };
};

/** The time of all sandboxes that it has paid for, those that live included. */
export const sandboxMsOf = ({ sandboxMs = 0, sandboxes = {} }: Slice, at: number): number =>
  Object.values(sandboxes).reduce((sum, since) => sum + Math.max(0, at - since), sandboxMs);

export const sandboxMsLeft = (slice: Slice, at: number): number =>
  (slice.sandboxMsMax ?? Number.POSITIVE_INFINITY) - sandboxMsOf(slice, at);

export const egressBytesLeft = ({ egressBytesMax, egressBytes = 0 }: Slice): number =>
  (egressBytesMax ?? Number.POSITIVE_INFINITY) - egressBytes;

/** Of those that pay together. Nothing is left of one that is not written yet; infinity where none bounds it. */
export const leastOf = (
  tree: { readonly slices?: Readonly<Record<string, Slice>> | undefined } | undefined,
  paying: readonly SessionId[] = [],
  leftOf: (slice: Slice) => number,
): number => {
  const lefts = paying.map((id) => {
    const slice = tree?.slices?.[id];
    return slice === undefined ? 0 : leftOf(slice);
  });
  return Math.max(0, Math.min(...lefts));
};

/** The rest of it, before any reservation. */
export const restOf = (slice: Slice, measure: Measure): number => {
  const { tokensMax = Number.POSITIVE_INFINITY, tokens = 0, unsettledTokens = 0 } = slice;
  const { toolCallsMax = Number.POSITIVE_INFINITY, toolCalls = 0 } = slice;
  const rests = {
    usd: slice.usdMax - slice.spentUsd - slice.unsettledUsd,
    tokens: tokensMax - tokens - unsettledTokens,
    toolCalls: toolCallsMax - toolCalls,
  };
  return rests[measure];
};

type Lost = { readonly usd: number; readonly tokens?: number | undefined };

/** With reservations whose calls may have been made. Their answers are lost, so that no tool was called. */
export const withLost = (slice: Slice, lost: readonly Lost[]): Slice => {
  const tokens = lost.reduce((sum, { tokens = 0 }) => sum + tokens, slice.unsettledTokens ?? 0);
  return {
    ...slice,
    unsettledUsd: lost.reduce((sum, { usd }) => sum + usd, slice.unsettledUsd),
    ...(tokens === 0 ? {} : { unsettledTokens: tokens }),
  };
};

/** All that a provider counts; what it read from a cache is part of the input. */
export const tokensOf = ({ inputTokens, outputTokens }: TokenUsage): number => inputTokens + outputTokens;
