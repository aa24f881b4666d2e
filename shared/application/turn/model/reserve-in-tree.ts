/**
 * Reserves the money of a model call in the tree of its session, with its tokens and tool calls where slices bound those, and bounds the
 * answer by them. The answer's commit counts what was spent. A call without an answer releases it, and what the provider may charge for
 * stays counted (TM7). A session without a tree asks the table nothing (TM5).
 */

import type { ModelRequest } from '../../../domain/model.ts';
import { answerTokensMin, answerTokensWithin, callCostMax, callTokensMax } from '../../../domain/price.ts';
import { type Session, slicesOf, treeOf } from '../../../domain/session.ts';
import { isOutOfTime, treeUsdMaxOf } from '../../../domain/session-tree.ts';
import type { Grant } from '../../../domain/tree-budget.ts';
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

/** Reserved for a call: `usd` is 0 where it is free, or where there is no tree; `tokens` is absent where no slice pays for it. */
export type Reserved = { readonly usd: number; readonly tokens?: number | undefined };

export const noneReserved: Reserved = { usd: 0 };

/** A call as its tree grants it. */
export type Granted = Reserved & {
  readonly request: ModelRequest;
  /** The calls of tools that its answer may ask for. Absent: any number. */
  readonly toolCallsMax?: number | undefined;
};

type Ports = Deps<'trees' | 'costOf' | 'telemetry' | 'world'>;

/** The request as it may be made. Waits while others have reserved what is left. An interruption is thrown. */
export const reserveCall = async (
  ports: Ports,
  budgeted: Budgeted,
  request: ModelRequest,
): Promise<Granted | 'spent'> => {
  const { session } = budgeted.context;
  if (treeOf(session) === undefined) return { request, usd: 0 };
  const { outputTokensMax: most } = request;
  // Only the reservation says if calls of tools are left.
  const longest = slicesOf(session) === undefined ? request : withoutCalls(request);
  const { inputTokens } = callTokensMax(longest);
  const costWith = (outputTokens: number): number =>
    callCostMax({ inputTokens, outputTokens }, (usage) =>
      ports.costOf(session.provider, request.model, usage),
    );
  const least = Math.min(most, answerTokensMin);
  const tokens = inputTokens + most;
  const sums = { usd: costWith(most), usdMin: costWith(least), tokens, tokensMin: tokens - most + least };
  const granted = await reserve(ports, budgeted, sums);
  if (granted === 'spent') return granted;
  if (granted === 'free') return { request, usd: 0 };
  const paid = most - tokens + (granted.tokens ?? tokens);
  const outputTokensMax = Math.min(paid, answerTokensWithin(granted.grantedUsd, most, costWith));
  const bounded = { ...request, outputTokensMax };
  const { grantedUsd: usd, tokens: reserved, toolCalls } = granted;
  return {
    request: toolCalls === 0 ? withoutCalls(bounded) : bounded,
    usd,
    ...(reserved === undefined ? {} : { tokens: reserved }),
    ...(toolCalls === undefined ? {} : { toolCallsMax: toolCalls }),
  };
};

/** It keeps its tools: a provider refuses a history with calls of tools that it is not shown. */
export const withoutCalls = (request: ModelRequest): ModelRequest => ({
  ...request,
  system: `${request.system}\n\nYour budget has no tool calls left: answer with what you have, and call no tools.`,
});

/** The same call once more, when its last try may be charged for: whether its tree has the same sum again (TM7). */
export const reserveAgain = async (
  ports: Ports,
  budgeted: Budgeted,
  { usd, tokens }: Reserved,
): Promise<boolean> =>
  (await reserve(ports, budgeted, { usd, usdMin: usd, tokens, tokensMin: tokens })) !== 'spent';

type Sums = Reserved & { readonly usdMin: number; readonly tokensMin?: number | undefined };

const reserve = async (
  { trees, world }: Ports,
  { context: { session, limits }, signal, deadlineAt }: Budgeted,
  { tokens, tokensMin, ...money }: Sums,
): Promise<Grant | 'free' | 'spent'> => {
  const root = treeOf(session);
  const slices = slicesOf(session);
  if (isOutOfTime(session, world.now())) return 'spent';
  // Slices may bound tokens and tool calls, which no call is without.
  if (root === undefined || (money.usd === 0 && slices === undefined)) return 'free';
  const usdMax = treeUsdMaxOf(session, limits.turn.usdMax);
  const until = deadlineAt + lateMsMax;
  const { fence } = session.lease;
  const options = {
    session: session.id,
    fence,
    ...money,
    usdMax,
    until,
    call: world.uuid(),
    slices,
    ...(slices === undefined ? {} : { tokens, tokensMin, toolCalls: limits.turn.callsMax }),
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
  session: Session,
  { usd: unsettledUsd, tokens: unsettledTokens }: Reserved,
): Promise<void> => {
  const { id, lease } = session;
  const root = treeOf(session);
  if (root === undefined) return;
  try {
    const lost = { unsettledUsd, unsettledTokens, slices: slicesOf(session) };
    await trees.release(root, { session: id, fence: lease.fence, ...lost });
  } catch (error) {
    telemetry.warn('a reservation of a tree was not released', { error });
  }
};
