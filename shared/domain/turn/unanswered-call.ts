/**
 * The cost of a model call that ended without a complete answer: the usage that its provider reported, and the most that it may
 * have charged beyond that.
 */

import type { TokenUsage } from '../model.ts';

/** As the provider reported it: all of the input, and at most the output that it charges for. */
export type KnownUsage = { readonly usage: TokenUsage; readonly costUsd: number };

export type UnansweredCall = {
  /** Absent: the provider has reported nothing. */
  readonly known?: KnownUsage;
  /** US dollars that the provider may have charged beyond `known`, counted against the budget of the session tree. Absent: none. */
  readonly unsettledUsd?: number;
  /** The same in tokens. Only slices count tokens. */
  readonly unsettledTokens?: number;
};
