/**
 * The money of one model call of a sandbox: reserved in the tree of its session before it is made, and settled by what it cost.
 *
 * A session without a tree gets one with its first such call, since its turn may spend at the same moment: only a tree counts the
 * money of several calls at once (BR2).
 */

import { imagesIn } from '../../domain/broker/media.ts';
import { type BrokerCall, boundedCall } from '../../domain/broker/request.ts';
import type { SessionId } from '../../domain/ids.ts';
import type { TokenUsage } from '../../domain/model.ts';
import { answerTokensMin, answerTokensWithin, costOf, tokensPerImageMax } from '../../domain/price.ts';
import { rootSessionOf, type Session, slicesOf, treeOf } from '../../domain/session.ts';
import { isOutOfTime, treeUsdMaxOf } from '../../domain/session-tree.ts';
import type { Grant, ReservationRequest } from '../../domain/tree-budget.ts';
import { tokensOf } from '../../domain/tree-slice.ts';
import { AppError } from '../../errors.ts';
import type { BrokerDeps } from '../deps.ts';
import { changesTooOften, raceLost, untilWon } from '../write-race.ts';
import type { Outcome } from './metered-body.ts';

export type Budget = {
  /** The call with an answer that the reservation pays for. */
  readonly call: BrokerCall;
  /** True when a call with this usage passes what the tree had left when it began: the provider did not keep to its bound. */
  readonly isOver: (usage: TokenUsage) => boolean;
  /** The part of the cost that is not known stays counted (TM7). A failure is recorded, and its reservation expires. */
  readonly settle: (outcome: Outcome) => Promise<void>;
};

type Opening = {
  readonly session: Session;
  readonly call: BrokerCall;
  readonly requestBytes: number;
  readonly deadlineAt: number;
};

/** Some hundred tokens that a provider adds to a request. */
const addedTokensMax = 2000;
const pauseMs = 300;
const waitMsMax = 15_000;
/** The time after the end of its function in which a call may still be written: clocks differ. */
const lateMsMax = 60_000;

export const openBudget = async (ports: BrokerDeps, opening: Opening): Promise<Budget> => {
  const { trees, telemetry, world, brokerSettings } = ports;
  const { call, requestBytes, deadlineAt } = opening;
  const cost = (usage: TokenUsage): number => costOf(call, usage, brokerSettings.prices).usd;
  const session = await withTree(ports, opening.session);
  const root = rootSessionOf(session);
  // No session has it: a tree reserves for each of its calls, and this one is beside its session's turn.
  const reservation = `${session.id}/${world.uuid()}` as SessionId;
  const usdMax = treeUsdMaxOf(session, brokerSettings.usdMax);
  const inputTokens = requestBytes + addedTokensMax + imagesIn(call.body) * tokensPerImageMax;
  const costWith = (outputTokens: number): number =>
    Math.max(
      cost({ inputTokens, outputTokens }),
      cost({ inputTokens, outputTokens, cacheWriteInputTokens: inputTokens }),
    );
  const usd = costWith(call.outputTokensMax);
  const least = Math.min(call.outputTokensMax, answerTokensMin);
  const usdMin = costWith(least);
  const until = deadlineAt + lateMsMax;
  const slices = slicesOf(session);
  if (isOutOfTime(session, world.now()))
    throw new AppError('resource_limit_exceeded', 'the time of the session is over');
  const ofSlices =
    slices === undefined
      ? {}
      : { slices, tokens: inputTokens + call.outputTokensMax, tokensMin: inputTokens + least };
  const sums = { usd, usdMin, usdMax, ...ofSlices };
  const request = { session: reservation, fence: 1, ...sums, until, call: reservation };
  // Before the reservation, which no caller settles until this returns.
  const spentUsd = (await trees.read(root))?.spentUsd ?? 0;
  const isFree = usd === 0 && slices === undefined;
  const { grantedUsd, tokens = Number.POSITIVE_INFINITY } = isFree
    ? { grantedUsd: 0 }
    : await reserve(ports, root, request);
  return {
    call: boundedCall(
      call,
      Math.min(tokens - inputTokens, answerTokensWithin(grantedUsd, call.outputTokensMax, costWith)),
    ),
    isOver: (usage) => (cost(usage) > 0 && spentUsd + cost(usage) > usdMax) || tokensOf(usage) > tokens,
    settle: async ({ usage, isKnown }) => {
      const usd = cost(usage);
      const unsettledUsd = isKnown ? 0 : Math.max(0, grantedUsd - usd);
      const used = tokensOf(usage);
      const ofSlices =
        slices === undefined
          ? {}
          : { slices, tokens: used, unsettledTokens: isKnown ? 0 : Math.max(0, tokens - used) };
      const spent = { reservation, session: session.id, usd, usage, unsettledUsd, ...ofSlices };
      const { provider, model } = call;
      telemetry.info('a model call of a sandbox has ended', {
        ...{ event: 'model_brokered', sessionId: session.id, provider, model, usd: spent.usd },
        ...usage,
      });
      try {
        await trees.spend(root, spent);
      } catch (error) {
        telemetry.error('the usage of a model call of a sandbox was not recorded', { error });
      }
    },
  };
};

const withTree = ({ sessions, trees }: BrokerDeps, first: Session): Promise<Session> =>
  untilWon(async (race) => {
    const session = race === 0 ? first : await sessions.get(first.id);
    if (session === undefined) throw new AppError('session_not_found', 'the session was deleted');
    if (treeOf(session) !== undefined) return session;
    return (await trees.begin(session)) ? { ...session, hasChildren: true as const } : raceLost;
  }, changesTooOften('the session'));

const reserve = async (
  { trees, world }: BrokerDeps,
  root: SessionId,
  request: Omit<ReservationRequest, 'at'>,
): Promise<Grant> => {
  const begun = world.now();
  for (;;) {
    const answer = await trees.reserve(root, { ...request, at: world.now() });
    if (typeof answer !== 'string') return answer;
    if (answer === 'spent')
      throw new AppError('resource_limit_exceeded', 'the budget of the session is spent');
    if (world.now() - begun > waitMsMax)
      throw new AppError(
        'resource_limit_exceeded',
        'other calls have reserved what is left of the budget: try again',
      );
    await world.sleep(pauseMs);
  }
};
