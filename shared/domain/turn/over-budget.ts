/**
 * The budget of a turn in a session without a tree: the limit of its money, and the end of a turn that has spent it (T16). A tree has a
 * budget of its own, from which each model call is reserved (tree-budget.ts); a turn ends the same way when that is spent.
 */

import type { Running, TurnLimits, TurnStep } from './turn.ts';
import { end } from './turn-step.ts';

/** A model call is made while there is money left: the one that passes the limit is the last (T16). */
export const isOverBudget = ({ spentUsd }: Running, { usdMax }: TurnLimits): boolean =>
  spentUsd > 0 && spentUsd >= usdMax;

export const endOverBudget = (state: Running, text = ''): TurnStep => end(state, 'budget_exceeded', text);
