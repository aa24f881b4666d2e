/**
 * Reserves the money of a model call in the tree of its session, and bounds the answer by it. The answer's commit counts what was
 * spent. A call without an answer releases it, and what the provider may charge for stays counted (TM7). A session without a tree asks
 * the table nothing (TM5).
 */

import type { ModelRequest } from '../../../domain/model.ts';
import { answerTokensMin, answerTokensWithin, callCostMax } from '../../../domain/price.ts';
import { type Session, treeOf } from '../../../domain/session.ts';
import { isOutOfTime, withOwnMoney } from '../../../domain/session-tree.ts';
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

/** A call as its tree grants it. */
export type Granted = {
  readonly request: ModelRequest;
  /** Reserved for it; 0 where it is free, or where there is no tree. */
  readonly usd: number;
};

type Ports = Deps<'trees' | 'costOf' | 'telemetry' | 'world'>;

/** The request as it may be made. Waits while others have reserved what is left. An interruption is thrown. */
export const reserveCall = async (
  ports: Ports,
  budgeted: Budgeted,
  request: ModelRequest,
): Promise<Granted | 'spent'> => {
  const { session } = budgeted.context;
  const { outputTokensMax: most } = request;
  const costWith = (outputTokensMax: number): number =>
    callCostMax({ ...request, outputTokensMax }, (usage) =>
      ports.costOf(session.provider, request.model, usage),
    );
  const usdMin = costWith(Math.min(most, answerTokensMin));
  const granted = await reserve(ports, budgeted, { usd: costWith(most), usdMin });
  if (granted === 'spent') return granted;
  if (granted === 'free') return { request, usd: 0 };
  const outputTokensMax = answerTokensWithin(granted.grantedUsd, most, costWith);
  return { request: { ...request, outputTokensMax }, usd: granted.grantedUsd };
};

/** The same call once more, when its last try may be charged for: whether its tree has the same sum again (TM7). */
export const reserveAgain = async (ports: Ports, budgeted: Budgeted, usd: number): Promise<boolean> =>
  (await reserve(ports, budgeted, { usd, usdMin: usd })) !== 'spent';

const reserve = async (
  { trees, world }: Ports,
  { context: { session, limits }, signal, deadlineAt }: Budgeted,
  sums: { readonly usd: number; readonly usdMin: number },
): Promise<{ readonly grantedUsd: number } | 'free' | 'spent'> => {
  const root = treeOf(session);
  if (isOutOfTime(session, world.now())) return 'spent';
  if (root === undefined || sums.usd === 0) return 'free';
  const { usdMax } = withOwnMoney(limits.turn, session);
  const until = deadlineAt + lateMsMax;
  const { fence } = session.lease;
  const options = {
    session: session.id,
    fence,
    ...sums,
    usdMax,
    until,
    call: world.uuid(),
    slices: session.tree?.slices,
  };
  for (let pauseMs = pauseMsMin; ; pauseMs = Math.min(pauseMsMax, 2 * pauseMs)) {
    const answer = await trees.reserve(root, { ...options, at: world.now() });
    signal.throwIfAborted();
    if (answer !== 'busy') return answer;
    await world.sleep(pauseMs, signal);
    signal.throwIfAborted();
  }
};

/** For a call whose answer is not written, with what it may have cost. When this fails, the reservation ends with its function. */
export const releaseReservation = async (
  { trees, telemetry }: Deps<'trees' | 'telemetry'>,
  { id, lease: { fence }, ...membership }: Session,
  unsettledUsd: number,
): Promise<void> => {
  const root = treeOf({ id, ...membership });
  if (root === undefined) return;
  try {
    await trees.release(root, { session: id, fence, unsettledUsd, slices: membership.tree?.slices });
  } catch (error) {
    telemetry.warn('a reservation of a tree was not released', { error });
  }
};
