/**
 * The meter of one model call: what was reserved for it, and what its provider has reported of each try so far.
 *
 * Where a try has no answer, that is the part of its cost that is known: the input, and no more output than the provider charges for.
 * The rest of its reservation is unsettled, so that all of it stays counted (TM7). Where a try was refused, has ended, or is not sent yet,
 * its cost is known, and nothing of it is unsettled.
 */

import type { TokenUsage } from '../../../domain/model.ts';
import { tokensOf } from '../../../domain/tree-slice.ts';
import { addUsage } from '../../../domain/turn/call-queue.ts';
import type { KnownUsage, UnansweredCall } from '../../../domain/turn/unanswered-call.ts';
import { noneReserved, type Reserved } from './reserve-in-tree.ts';

export type CallMeter = {
  /** A try is on its way, after others perhaps: its provider may charge so much of its tree for it. */
  readonly sent: (reserved: Reserved, costOf: (usage: TokenUsage) => number) => void;
  /** Of the try that is on its way: all of it so far. */
  readonly reported: (usage: TokenUsage) => void;
  /** The try was refused before an answer began: it costs nothing, and its reservation is left for the next. */
  readonly refused: () => void;
  /** The reservation of the last try has become unsettled, and another was made for the next. */
  readonly reservedAnew: () => void;
  /** Of an answer that is whole: all of it. */
  readonly ended: (usage: TokenUsage) => void;
  /** The part of the reservation that the provider may charge for, where nothing of the call is written. */
  readonly reserved: () => Reserved;
  /** Of a call whose answer is not written; with what was reserved for its last try, while the cost of that is not known. */
  readonly lost: () => UnansweredCall;
  /** Of the tries before the one that is answered: each had its own reservation, which is unsettled as a whole until now. */
  readonly lostBefore: () => UnansweredCall;
};

export const openCallMeter = (): CallMeter => {
  let before: readonly KnownUsage[] = [];
  let usage: TokenUsage | undefined;
  let reserved = noneReserved;
  /** A try is on its way, or broke off: it may cost all that was reserved for it. */
  let isOpen = false;
  let costOf = (_usage: TokenUsage): number => 0;
  const tries = (): readonly KnownUsage[] =>
    usage === undefined || tokensOf(usage) === 0 ? before : [...before, { usage, costUsd: costOf(usage) }];
  const close = (): void => {
    before = tries();
    usage = undefined;
    isOpen = false;
  };
  return {
    sent: (now, costNow) => {
      close();
      isOpen = true;
      reserved = now;
      costOf = costNow;
    },
    reported: (now) => {
      usage = now;
    },
    refused: () => {
      usage = undefined;
      isOpen = false;
    },
    reservedAnew: close,
    ended: (now) => {
      usage = now;
      // Without usage its cost is unknown.
      isOpen = tokensOf(now) === 0;
    },
    reserved: () => {
      if (isOpen) return reserved;
      if (usage === undefined) return noneReserved;
      return {
        usd: costOf(usage),
        ...(reserved.tokens === undefined ? {} : { tokens: tokensOf(usage) }),
      };
    },
    lost: () => lostOf(tries(), { reserved, open: isOpen ? 1 : 0, unsettled: isOpen ? tries() : before }),
    lostBefore: () => lostOf(before, { reserved, open: 0, unsettled: before }),
  };
};

type Settling = {
  readonly reserved: Reserved;
  /** The number of reservations that no write has made unsettled yet. */
  readonly open: 0 | 1;
  /** The tries whose reservations are unsettled as a whole, but for what is known of them. */
  readonly unsettled: readonly KnownUsage[];
};

const lostOf = (tries: readonly KnownUsage[], { reserved, open, unsettled }: Settling): UnansweredCall => {
  const most = reserved.tokens ?? 0;
  const knownUsd = unsettled.reduce((sum, { costUsd }) => sum + Math.min(costUsd, reserved.usd), 0);
  const knownTokens = unsettled.reduce((sum, { usage }) => sum + Math.min(tokensOf(usage), most), 0);
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
