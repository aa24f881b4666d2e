/**
 * Calls the model once and gives its whole answer as the turn's next event.
 *
 * Repeatable by nature: a call cut by a crash is made again under a new message id, and its half text is dropped. A refusal
 * of the provider becomes an event, which keeps the text that came before it. An interruption is thrown; the caller hears
 * the text as it comes.
 */

import { iso } from '../../../contracts/fields.ts';
import { isUnused } from '../../../domain/features.ts';
import { droppedByTruncation, estimateHistory, withoutRepeatedAnswers } from '../../../domain/history.ts';
import type { ModelRequest, TokenUsage } from '../../../domain/model.ts';
import { estimateRequest, expectedTokens, measureOf } from '../../../domain/token-measure.ts';
import { addUsage } from '../../../domain/turn/call-queue.ts';
import { currentMessage } from '../../../domain/turn/session-after-step.ts';
import type { Thinking, TurnEvent } from '../../../domain/turn/turn.ts';
import type { KnownUsage, UnansweredCall } from '../../../domain/turn/unanswered-call.ts';
import { isAppError } from '../../../errors.ts';
import type { ModelDeps } from '../../deps.ts';
import type { TurnContext } from '../holder/turn-context.ts';
import { type AskOptions, askModel, type FailedAnswer } from './ask-with-retry.ts';
import type { CallMeter } from './call-meter.ts';
import { identifyCalls } from './identify-calls.ts';
import { type Offer, offerTools } from './offer-tools.ts';
import { type Budgeted, type Reserved, reserveAgain, reserveCall } from './reserve-in-tree.ts';
import { showAttachments } from './show-attachments.ts';

export type ModelCall = Budgeted & {
  readonly context: TurnContext;
  readonly state: Thinking;
  readonly outputTokensMax: number;
  readonly onText: AskOptions['onText'];
  readonly meter: CallMeter;
};

export const callModel = async (ports: ModelDeps, call: ModelCall): Promise<TurnEvent> => {
  const { world } = ports;
  const { context, state, signal, onText, meter } = call;
  const { provider } = context.session;
  const isWithoutServers = isUnused(context.seen, 'mcpServers', world.now());
  const offering = isWithoutServers
    ? { ...ports, mcpServers: { ...ports.mcpServers, list: async () => [] } }
    : ports;
  const offer = await offerTools(offering, context.session, context.callers);
  const fitting = await fittingRequest(ports, call, offer);
  // Before its money: what it shows costs, too.
  const shown = { session: context.session, shown: context.shown, signal };
  const history = await showAttachments(ports, fitting.history, shown);
  const granted = await reserveCall(ports, call, { ...fitting, history });
  if (granted === 'spent') return { type: 'budget-spent', at: world.now(), step: state.step };
  const { request, toolCallsMax, usd, tokens } = granted;
  const reserved: Reserved = { usd, tokens };
  const costOf = (usage: TokenUsage): number => ports.costOf(provider, request.model, usage);
  const onFirstText = () => recordFirstText(ports, call);
  const mayResend = () => reserveAgain(ports, call, reserved);
  try {
    const asking = { context, signal, meter, reserved, costOf, mayResend, onFirstText, onText };
    const asked = await askModel(ports, asking, request);
    if ('error' in asked) return failureOf(ports, call, asked);
    const { messageId, answer, request: answered } = asked;
    const { text, end, usage, reasoning, providerState } = answer;
    const at = world.now();
    const { turnId, step } = state;
    const { routeOf, isOffered } = offer;
    const preparation = { turnId, history: context.history, routeOf, isOffered, at };
    const calls = identifyCalls(world, answer.calls, preparation);
    const measured = measureOf(answered, usage.inputTokens, context.limits.history);
    const whole = {
      messageId,
      text,
      calls,
      end,
      ...withLost({ usage, costUsd: costOf(usage) }, meter.lostBefore()),
    };
    return {
      ...{ type: 'model-answered', at, step, ...whole },
      ...(reasoning === undefined ? {} : { reasoning }),
      ...(providerState === undefined ? {} : { providerState }),
      ...(toolCallsMax === undefined ? {} : { toolCallsMax }),
      ...(measured === undefined ? {} : { measured }),
    };
  } catch (error) {
    signal.throwIfAborted();
    return failureOf(ports, call, { error });
  }
};

/** An answer costs what the tries before it did, too. */
const withLost = (
  { usage, costUsd }: KnownUsage,
  { known, ...unsettled }: UnansweredCall,
): KnownUsage & Omit<UnansweredCall, 'known'> =>
  known === undefined
    ? { usage, costUsd, ...unsettled }
    : { usage: addUsage(usage, known.usage), costUsd: costUsd + known.costUsd, ...unsettled };

/** An error of ours is not the provider's, and has no try to count. */
const failureOf = (
  { telemetry, world }: ModelDeps,
  { context, state, meter }: ModelCall,
  { error, ...asked }: { readonly error: unknown } | FailedAnswer,
): TurnEvent => {
  telemetry.warn('a model call failed', { error });
  const { code, message } = isAppError(error)
    ? error
    : { code: 'internal_error', message: 'the model call failed on our side' };
  const failed = {
    ...{ type: 'model-failed' as const, at: world.now(), step: state.step, code, message },
    ...meter.lost(),
  };
  if (!('attempt' in asked) || !isAppError(error)) return failed;
  const { attempt, messageId, retryAt, text } = asked;
  return {
    ...failed,
    origin: {
      provider: context.session.provider,
      attempt,
      ...(retryAt === undefined ? {} : { retryAt: iso(retryAt) }),
    },
    // A refused answer is not kept, nor one that is too long to be stored.
    ...(text === '' || code === 'content_refused' ? {} : { partial: { messageId, text } }),
  };
};

/** The time a user waits before anything moves; later answers of a turn have had tools before them. */
const recordFirstText = ({ telemetry, world }: ModelDeps, { context, state }: ModelCall): void => {
  const acceptedAt = currentMessage(context.turn.state, context.inbox)?.acceptedAt;
  if (state.step === 1 && acceptedAt !== undefined)
    telemetry.duration('FirstDeltaMs', world.now() - acceptedAt);
};

/**
 * Near the limit the estimate gives way to what the provider counted with its last answer; before it has counted any, it is asked.
 * Where it counts nothing, the estimate has the tools and the prompt as well, which leave at least half of the limit to the history.
 */
const fittingRequest = async (
  ports: ModelDeps,
  call: ModelCall,
  { tools, system }: Offer,
): Promise<ModelRequest> => {
  const { context, outputTokensMax, signal } = call;
  const message = currentMessage(context.turn.state, context.inbox);
  const thinking = message?.thinking ?? context.session.thinking;
  const whole: ModelRequest = {
    model: message?.model ?? context.session.model,
    system: context.instructions === undefined ? system : `${system}\n\n${context.instructions}`,
    tools,
    history: withoutRepeatedAnswers(context.history),
    outputTokensMax,
    ...(thinking === undefined ? {} : { thinking }),
  };
  const guessed = estimateHistory(whole.history);
  const { tokensMax, messagesMax } = context.limits.history;
  const isFar = guessed < tokensMax / 2;
  const counted = isFar ? 0 : await tokensOf(ports, { context, whole, signal });
  const most =
    counted > 0
      ? tokensMax / Math.max(1, counted / Math.max(1, guessed))
      : Math.max(tokensMax / 2, tokensMax - (estimateRequest(whole) - guessed));
  const fits = { messagesMax, tokensMax: Math.floor(isFar ? tokensMax : most) };
  return { ...whole, history: whole.history.slice(droppedByTruncation(whole.history, fits)) };
};

type Counted = {
  readonly context: TurnContext;
  readonly whole: ModelRequest;
  readonly signal: AbortSignal;
};

const tokensOf = async (ports: ModelDeps, counted: Counted): Promise<number> => {
  const { measured } = counted.context.turn;
  return measured === undefined ? countedTokens(ports, counted) : expectedTokens(counted.whole, measured);
};

/** The count of the provider, or 0: a count that fails is no reason to fail. */
const countedTokens = async (
  { models, telemetry }: ModelDeps,
  { context, whole, signal }: Counted,
): Promise<number> => {
  try {
    const provider = await models.open(context.session.provider);
    return (await provider.count?.(whole, signal)) ?? 0;
  } catch (error) {
    signal.throwIfAborted();
    telemetry.warn('tokens were not counted', { error });
    return 0;
  }
};
