/**
 * Calls the model once and gives its whole answer as the turn's next event.
 *
 * Repeatable by nature: a call cut by a crash is made again under a new message id, and its half text is dropped.
 * What a provider refuses becomes an event. An interruption is thrown.
 */
import { isUnused } from '../../domain/features.ts';
import { droppedByTruncation, estimateTokens } from '../../domain/history.ts';
import type { ModelRequest } from '../../domain/model.ts';
import type { Thinking, TurnEvent } from '../../domain/turn/turn.ts';
import { isAppError } from '../../errors.ts';
import { type AskPorts, askWithRetry } from './ask-model.ts';
import { currentMessage, type Desk, type DeskLimits } from './desk.ts';
import { type Offer, type OfferPorts, offerTools } from './offer-tools.ts';
import { placeCalls } from './place-calls.ts';
import { type Budgeted, type BudgetPorts, reserveCall } from './tree-budget.ts';

export type ModelPorts = OfferPorts & AskPorts & BudgetPorts;

export type ModelCall = Budgeted & {
  readonly desk: Desk;
  readonly state: Thinking;
  readonly limits: DeskLimits;
  readonly outputTokensMax: number;
};

const noServers: OfferPorts['mcpServers'] = { list: async () => [] };

export const callModel = async (ports: ModelPorts, call: ModelCall): Promise<TurnEvent> => {
  const { world } = ports;
  const { desk, state, signal } = call;
  const { provider } = desk.session;
  const isWithoutServers = isUnused(desk.seen, 'mcpServers', world.now());
  const offering = isWithoutServers ? { ...ports, mcpServers: noServers } : ports;
  const offer = await offerTools(offering, desk.session, desk.callers);
  const request = await fittingRequest(ports, call, offer);
  if ((await reserveCall(ports, call, request)) === 'spent')
    return { type: 'budget-spent', at: world.now(), step: state.step };
  try {
    const onFirstText = () => noteFirstText(ports, call);
    const { messageId, answer } = await askWithRetry(ports, { ...call, onFirstText }, request);
    const { text, end, usage, providerState } = answer;
    const costUsd = ports.costOf(provider, request.model, usage);
    const at = world.now();
    const { turnId, step } = state;
    const placing = { turnId, history: desk.history, routeOf: offer.routeOf, at };
    const calls = placeCalls(world, answer.calls, placing);
    const said = { messageId, text, calls, end, usage, costUsd };
    const event = { type: 'model-answered' as const, at, step, ...said };
    return providerState === undefined ? event : { ...event, providerState };
  } catch (error) {
    signal.throwIfAborted();
    ports.telemetry.warn('a model call failed', { error });
    const { code, message } = isAppError(error)
      ? error
      : { code: 'internal_error', message: 'the model call failed on our side' };
    return { type: 'model-failed', at: world.now(), step: state.step, code, message };
  }
};

/** What a user waits for before anything moves; later answers of a turn have had tools before them. */
const noteFirstText = ({ telemetry, world }: ModelPorts, { desk, state }: ModelCall): void => {
  const acceptedAt = currentMessage(desk)?.acceptedAt;
  if (state.step === 1 && acceptedAt !== undefined)
    telemetry.duration('FirstDeltaMs', world.now() - acceptedAt);
};

/** A guess of what tools and prompt take, and a count by the provider where the guess comes near the limit. */
const fittingRequest = async (
  ports: ModelPorts,
  call: ModelCall,
  { tools, system }: Offer,
): Promise<ModelRequest> => {
  const { desk, limits, outputTokensMax, signal } = call;
  const whole: ModelRequest = {
    model: currentMessage(desk)?.model ?? desk.session.model,
    system,
    tools,
    history: desk.history,
    outputTokensMax,
  };
  const guessed = desk.history.reduce((sum, message) => sum + estimateTokens(message), 0);
  const { tokensMax, messagesMax } = limits.history;
  const ratio =
    guessed < tokensMax / 2
      ? 1
      : (await countedTokens(ports, { desk, whole, signal })) / Math.max(1, guessed);
  const fits = { messagesMax, tokensMax: Math.floor(tokensMax / Math.max(1, ratio)) };
  return { ...whole, history: desk.history.slice(droppedByTruncation(desk.history, fits)) };
};

/** By the provider, or by nobody: a count that fails is no reason to fail. */
const countedTokens = async (
  { models, telemetry }: ModelPorts,
  { desk, whole, signal }: { desk: Desk; whole: ModelRequest; signal: AbortSignal },
): Promise<number> => {
  try {
    const provider = await models.open(desk.session.provider);
    return (await provider.count?.(whole, signal)) ?? 0;
  } catch (error) {
    signal.throwIfAborted();
    telemetry.warn('tokens were not counted', { error });
    return 0;
  }
};
