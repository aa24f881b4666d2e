/** The part of a model call that has no answer, as it counts: what is known of it, and the most that it may have cost besides. */

import type { TokenUsage } from '../model.ts';

/** As its provider reported it: the input, and no more output than it charges for. */
export type KnownUsage = { readonly usage: TokenUsage; readonly costUsd: number };

export type LostCall = {
  /** Absent: its provider has reported nothing. */
  readonly known?: KnownUsage;
  /** US dollars of its tree that the provider may have charged for it besides. Absent: none. */
  readonly unsettledUsd?: number;
  /** The same in tokens, of slices alone. */
  readonly unsettledTokens?: number;
};
