/**
 * The money of a turn whose session belongs to a tree: reserved before its model is asked, counted where the answer
 * is written, given back when none is. A session that stands alone asks the table nothing (TM5).
 */
import { callCostMax } from '../../domain/call-cost.ts';
import type { ModelRequest, ProviderName, TokenUsage } from '../../domain/model.ts';
import { type Session, treeOf } from '../../domain/session.ts';
import { withOwnMoney } from '../../domain/tree-limits.ts';
import type { MoneyAnswer } from '../../domain/tree-money.ts';
import type { TurnEvent, TurnLimits } from '../../domain/turn/turn.ts';
import type { TurnCommit } from '../../ports/session-store.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { TreeStore } from '../../ports/tree-store.ts';
import type { World } from '../../ports/world.ts';

export type BudgetPorts = {
  readonly trees: Pick<TreeStore, 'reserve' | 'release'>;
  /** Dollars, by the price table; 0 for a model without a price. */
  readonly costOf: (provider: ProviderName, model: string, usage: TokenUsage) => number;
  readonly world: World;
  readonly telemetry: Telemetry;
};

export type Budgeted = {
  readonly desk: { readonly session: Session };
  readonly limits: { readonly turn: TurnLimits };
  readonly signal: AbortSignal;
  /** Epoch milliseconds at which the function is ended, and with it the call. */
  readonly deadlineAt: number;
};

const pauseMsMin = 200;
const pauseMsMax = 2000;
/** How long after its function's end a call may still be written: clocks differ, and a write may be on its way. */
const lateMsMax = 60_000;

/** Waits while others have reserved what is left. An interruption is thrown. */
export const reserveCall = async (
  { trees, costOf, world }: BudgetPorts,
  { desk: { session }, limits, signal, deadlineAt }: Budgeted,
  request: ModelRequest,
): Promise<Exclude<MoneyAnswer, 'busy'>> => {
  const root = treeOf(session);
  if (root === undefined) return 'granted';
  const usd = callCostMax(request, (usage) => costOf(session.provider, request.model, usage));
  if (usd === 0) return 'granted';
  const { usdMax } = withOwnMoney(limits.turn, session);
  const until = deadlineAt + lateMsMax;
  const options = { session: session.id, fence: session.lease.fence, usd, usdMax, until };
  for (let pauseMs = pauseMsMin; ; pauseMs = Math.min(pauseMsMax, 2 * pauseMs)) {
    const answer = await trees.reserve(root, { ...options, at: world.now() });
    if (answer !== 'busy') return answer;
    await world.sleep(pauseMs, signal);
    signal.throwIfAborted();
  }
};

/** What its tree is told of a call that has ended; what a failed one cost nobody knows. */
export const spentBy = (session: Session, event: TurnEvent): TurnCommit['spends'] => {
  const root = treeOf(session);
  if (root === undefined) return undefined;
  if (event.type === 'model-answered') return { root, usd: event.costUsd };
  return event.type === 'model-failed' ? { root, usd: 0 } : undefined;
};

/** For a call whose answer is not written. Where this fails, the reservation ends with its function. */
export const giveBack = async (
  { trees, telemetry }: Pick<BudgetPorts, 'trees' | 'telemetry'>,
  { id, lease: { fence }, ...membership }: Session,
): Promise<void> => {
  const root = treeOf({ id, ...membership });
  if (root === undefined) return;
  try {
    await trees.release(root, { session: id, fence });
  } catch (error) {
    telemetry.warn('the money of a tree was not given back', { error });
  }
};
