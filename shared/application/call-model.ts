/**
 * Calls the model once: streams its text to the audience and gives the whole answer as the turn's next event.
 *
 * Repeatable by nature: a call cut by a crash is made again under a new message id, and its half text is
 * dropped. What a provider refuses becomes an event; a passing fault is waited out, and a conversation that
 * is too long for the model loses its oldest exchanges, once. An interruption is thrown.
 */
import { unnumberedFrame } from '../contracts/frames.ts';
import type { AskedCall } from '../domain/asked-call.ts';
import { droppedByTruncation, estimateTokens, halved } from '../domain/history.ts';
import type { CallId, MessageId } from '../domain/ids.ts';
import type { JsonObject } from '../domain/json.ts';
import { answerBytesMax, clientIdCharactersMax } from '../domain/limits.ts';
import type { AnswerEnd, ModelChunk, ModelRequest, ProviderName, TokenUsage } from '../domain/model.ts';
import { utf8Bytes } from '../domain/text.ts';
import { sandboxTools, systemPrompt } from '../domain/tools.ts';
import type { Thinking, TurnEvent } from '../domain/turn/turn.ts';
import { AppError, isAppError } from '../errors.ts';
import type { ModelProvider, ModelProviders } from '../ports/model-provider.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import type { World } from '../ports/world.ts';
import { currentMessage, type Desk, type DeskLimits } from './desk.ts';
import { modelRetryMs } from './model-retry.ts';
import { openTextRelay } from './text-relay.ts';

export type ModelPorts = {
  readonly models: ModelProviders;
  /** Dollars, by the price table; 0 for a model without a price. */
  readonly costOf: (provider: ProviderName, model: string, usage: TokenUsage) => number;
  readonly telemetry: Telemetry;
  readonly world: World;
};

export type ModelCall = {
  readonly desk: Desk;
  readonly state: Thinking;
  readonly limits: DeskLimits;
  readonly outputTokensMax: number;
  readonly signal: AbortSignal;
};

type Answer = {
  text: string;
  calls: AskedCall[];
  end: AnswerEnd;
  usage: TokenUsage;
  bytes: number;
  echo: JsonObject | undefined;
};

export const callModel = async (ports: ModelPorts, call: ModelCall): Promise<TurnEvent> => {
  const { world } = ports;
  const { desk, state, signal } = call;
  const { provider } = desk.session;
  try {
    const request = await fittingRequest(ports, call);
    const { messageId, answer } = await askWithPatience(ports, call, request);
    const { text, calls, end, usage, echo } = answer;
    const costUsd = ports.costOf(provider, request.model, usage);
    const said = { messageId, text, calls, end, usage, costUsd };
    const event = { type: 'model-answered' as const, at: world.now(), step: state.step, ...said };
    return echo === undefined ? event : { ...event, echo };
  } catch (error) {
    signal.throwIfAborted();
    ports.telemetry.warn('a model call failed', { error });
    const { code, message } = isAppError(error)
      ? error
      : { code: 'internal_error', message: 'the model call failed on our side' };
    return { type: 'model-failed', at: world.now(), step: state.step, code, message };
  }
};

/** A guess of what tools and prompt take, and a count by the provider where the guess comes near the limit. */
const fittingRequest = async (ports: ModelPorts, call: ModelCall): Promise<ModelRequest> => {
  const { desk, limits, outputTokensMax, signal } = call;
  const whole: ModelRequest = {
    model: currentMessage(desk)?.model ?? desk.session.model,
    system: systemPrompt,
    tools: sandboxTools,
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

type Asked = { readonly messageId: MessageId; readonly answer: Answer };

/** Faults that pass are waited out while nothing was said; one answer of "too long" halves the conversation. */
const askWithPatience = async (ports: ModelPorts, call: ModelCall, request: ModelRequest): Promise<Asked> => {
  let current = request;
  for (let attempt = 1; ; attempt += 1) {
    const asked = await askOnce(ports, call, current);
    if ('answer' in asked) return asked;
    const shorter = current === request ? shortened(asked.error, current) : undefined;
    const waitMs = modelRetryMs(asked.error, attempt);
    if (asked.hasSpoken || (shorter === undefined && waitMs === undefined)) throw asked.error;
    if (shorter === undefined) await ports.world.sleep(waitMs ?? 0, call.signal);
    else current = shorter;
  }
};

type Failed = { readonly error: unknown; readonly hasSpoken: boolean };

const askOnce = async (
  ports: ModelPorts,
  call: ModelCall,
  request: ModelRequest,
): Promise<Asked | Failed> => {
  const messageId = ports.world.uuid() as MessageId;
  let hasSpoken = false;
  const onText = (): void => {
    hasSpoken = true;
  };
  try {
    return { messageId, answer: await streamAnswer(ports, call, { request, messageId, onText }) };
  } catch (error) {
    call.signal.throwIfAborted();
    return { error, hasSpoken };
  }
};

const shortened = (error: unknown, request: ModelRequest): ModelRequest | undefined => {
  if (!isAppError(error) || error.code !== 'context_too_long') return undefined;
  const history = halved(request.history);
  return history.length < request.history.length ? { ...request, history } : undefined;
};

const streamAnswer = async (
  { models, world }: ModelPorts,
  { desk: { audience, session }, signal }: ModelCall,
  { request, messageId, onText }: { request: ModelRequest; messageId: MessageId; onText: () => void },
): Promise<Answer> => {
  const relay = openTextRelay({ audience, world, lengthOf: (text) => text.length }, (id: MessageId, piece) =>
    unnumberedFrame('delta', { sessionId: session.id, at: world.now(), data: { messageId: id, ...piece } }),
  );
  const provider: ModelProvider = await models.open(session.provider);
  const answer: Answer = {
    text: '',
    calls: [],
    end: 'end_turn',
    usage: { inputTokens: 0, outputTokens: 0 },
    bytes: 0,
    echo: undefined,
  };
  for await (const chunk of provider.stream(request, signal)) {
    if (chunk.type === 'text') {
      onText();
      relay.push(messageId, { offset: answer.text.length, text: chunk.text });
    }
    take(answer, chunk, world.now());
  }
  await relay.flush();
  return answer;
};

const take = (answer: Answer, chunk: ModelChunk, now: number): void => {
  switch (chunk.type) {
    case 'text':
      answer.text += chunk.text;
      answer.bytes += utf8Bytes(chunk.text);
      break;
    case 'call': {
      const callId = isUsable(chunk.callId) ? chunk.callId : (`call_${now}_${answer.calls.length}` as CallId);
      answer.calls.push({ callId, name: chunk.name, args: chunk.args });
      answer.bytes += utf8Bytes(JSON.stringify(chunk.args));
      break;
    }
    case 'end':
      answer.end = chunk.end;
      answer.usage = chunk.usage;
      answer.echo = chunk.echo;
      break;
  }
  if (answer.bytes > answerBytesMax)
    throw new AppError('content_refused', `the model's answer is over ${answerBytesMax} bytes`);
};

/** A client must be able to name the call when it approves it. */
const isUsable = (callId: CallId | undefined): callId is CallId =>
  callId !== undefined && callId !== '' && callId.length <= clientIdCharactersMax;
