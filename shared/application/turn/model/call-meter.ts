/**
 * The meter of one model call: what was reserved for it, and what its provider has reported of each try so far.
 *
 * Where a try has no answer, that is the part of its cost that is known: the input, and no more output than the provider charges for.
 * The rest of its reservation is unsettled, so that all of it stays counted (TM7).
 */

import type { TokenUsage } from '../../../domain/model.ts';
import { tokensOf } from '../../../domain/tree-slice.ts';
import { addUsage } from '../../../domain/turn/call-queue.ts';
import type { KnownUsage, LostCall } from '../../../domain/turn/lost-call.ts';
import { noneReserved, type Reserved } from './reserve-in-tree.ts';

export type CallMeter = {
  /** A try is on its way, after others perhaps: its provider may charge so much of its tree for it. */
  readonly sent: (reserved: Reserved, costOf: (usage: TokenUsage) => number) => void;
  /** Of the try that is on its way: all of it so far. */
  readonly reported: (usage: TokenUsage) => void;
  /** For the last try, once one was sent. */
  readonly reserved: () => Reserved;
  /** Of a call without an answer; with what was reserved for its last try, unless the provider charges nothing for that. */
  readonly lost: (of?: { readonly isCharged: boolean }) => LostCall;
  /** Of the tries before the one that is answered: each had its own reservation, which is unsettled as a whole until now. */
  readonly lostBefore: () => LostCall;
};

export const openCallMeter = (): CallMeter => {
  let before: readonly KnownUsage[] = [];
  let usage: TokenUsage | undefined;
  let reserved = noneReserved;
  let costOf = (_usage: TokenUsage): number => 0;
  const tries = (): readonly KnownUsage[] =>
    usage === undefined || tokensOf(usage) === 0 ? before : [...before, { usage, costUsd: costOf(usage) }];
  return {
    sent: (now, costNow) => {
      before = tries();
      usage = undefined;
      reserved = now;
      costOf = costNow;
    },
    reported: (now) => {
      usage = now;
    },
    reserved: () => reserved,
    lost: ({ isCharged } = { isCharged: true }) => lostOf(tries(), reserved, isCharged ? 1 : 0),
    lostBefore: () => lostOf(before, reserved, 0),
  };
};

/** `open`: the number of reservations that no write has made unsettled yet. */
const lostOf = (tries: readonly KnownUsage[], reserved: Reserved, open: 0 | 1): LostCall => {
  const most = reserved.tokens ?? 0;
  const knownUsd = tries.reduce((sum, { costUsd }) => sum + Math.min(costUsd, reserved.usd), 0);
  const knownTokens = tries.reduce((sum, { usage }) => sum + Math.min(tokensOf(usage), most), 0);
  const unsettledUsd = open * reserved.usd - knownUsd;
  const unsettledTokens = open * most - knownTokens;
  return {
    ...(tries.length === 0 ? {} : { known: tries.reduce(sumOf) }),
    ...(unsettledUsd === 0 ? {} : { unsettledUsd }),
    ...(unsettledTokens === 0 ? {} : { unsettledTokens }),
  };
};

const sumOf = (one: KnownUsage, other: KnownUsage): KnownUsage => ({
  usage: addUsage(one.usage, other.usage),
  costUsd: one.costUsd + other.costUsd,
});
