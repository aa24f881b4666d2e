/**
 * Reserves the money of a model call in the tree of its session, and bounds the answer by it. The answer's commit counts what was
 * spent; a call without an answer releases it. A session without a tree asks the table nothing (TM5).
 */

import type { ModelRequest } from '../../../domain/model.ts';
import { answerTokensMin, answerTokensWithin, callCostMax } from '../../../domain/price.ts';
import { type Session, treeOf } from '../../../domain/session.ts';
import { withOwnMoney } from '../../../domain/session-tree.ts';
import type { TurnLimits } from '../../../domain/turn/turn.ts';
import type { Deps } from '../../deps.ts';

export type Budgeted = {
  readonly context: { readonly session: Session; readonly limits: { readonly turn: TurnLimits } };
  readonly signal: AbortSignal;
  /** Epoch milliseconds at which the function is ended, and with it the call. */
  readonly deadlineAt: number;
};

const pauseMsMin = 200;
const pauseMsMax = 2000;
/** A call may be written so long after its function's end: clocks differ, and a write may be on its way. */
const lateMsMax = 60_000;

/** The request as it may be made. Waits while others have reserved what is left. An interruption is thrown. */
export const reserveCall = async (
  { trees, costOf, world }: Deps<'trees' | 'costOf' | 'telemetry' | 'world'>,
  { context: { session, limits }, signal, deadlineAt }: Budgeted,
  request: ModelRequest,
): Promise<ModelRequest | 'spent'> => {
  const root = treeOf(session);
  if (root === undefined) return request;
  const { outputTokensMax: most } = request;
  const costWith = (outputTokensMax: number): number =>
    callCostMax({ ...request, outputTokensMax }, (usage) => costOf(session.provider, request.model, usage));
  const usd = costWith(most);
  if (usd === 0) return request;
  const usdMin = costWith(Math.min(most, answerTokensMin));
  const { usdMax } = withOwnMoney(limits.turn, session);
  const until = deadlineAt + lateMsMax;
  const options = { session: session.id, fence: session.lease.fence, usd, usdMin, usdMax, until };
  for (let pauseMs = pauseMsMin; ; pauseMs = Math.min(pauseMsMax, 2 * pauseMs)) {
    const answer = await trees.reserve(root, { ...options, at: world.now() });
    signal.throwIfAborted();
    if (answer === 'spent') return answer;
    if (answer !== 'busy')
      return { ...request, outputTokensMax: answerTokensWithin(answer.grantedUsd, most, costWith) };
    await world.sleep(pauseMs, signal);
    signal.throwIfAborted();
  }
};

/** For a call whose answer is not written. When this fails, the reservation expires with its function. */
export const releaseReservation = async (
  { trees, telemetry }: Deps<'trees' | 'telemetry'>,
  { id, lease: { fence }, ...membership }: Session,
): Promise<void> => {
  const root = treeOf({ id, ...membership });
  if (root === undefined) return;
  try {
    await trees.release(root, { session: id, fence });
  } catch (error) {
    telemetry.warn('a reservation of a tree was not released', { error });
  }
};
