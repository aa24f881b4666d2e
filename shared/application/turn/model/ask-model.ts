/**
 * Asks a model for one whole answer: streams its text to the subscribers, retries after faults that pass, and tries once
 * with half of a conversation that is too long. An interruption is thrown.
 */

import { unnumberedFrame } from '../../../contracts/frames.ts';
import type { AskedCall } from '../../../domain/asked-call.ts';
import { halved } from '../../../domain/history.ts';
import type { CallId, MessageId } from '../../../domain/ids.ts';
import type { JsonObject } from '../../../domain/json.ts';
import {
  answerArgumentsBytesMax,
  answerTextBytesMax,
  clientIdCharactersMax,
} from '../../../domain/limits.ts';
import type { AnswerEnd, ModelChunk, ModelRequest, TokenUsage } from '../../../domain/model.ts';
import { utf8Bytes } from '../../../domain/text.ts';
import { AppError, isAppError } from '../../../errors.ts';
import type { ModelProvider } from '../../../ports/models.ts';
import type { Deps } from '../../deps.ts';
import { openTextRelay } from '../../events/text-relay.ts';
import type { TurnContext } from '../commit/turn-context.ts';
export type AskOptions = {
  readonly context: TurnContext;
  readonly signal: AbortSignal;
  /** The first text has come. */
  readonly onFirstText?: () => void;
};

type Answer = {
  text: string;
  calls: AskedCall[];
  end: AnswerEnd;
  usage: TokenUsage;
  textBytes: number;
  argumentBytes: number;
  providerState: JsonObject | undefined;
};

type Asked = { readonly messageId: MessageId; readonly answer: Answer };

/** Faults that pass are waited out until text was streamed; one answer of "too long" halves the conversation. */
export const askModel = async (
  ports: Deps<'models' | 'world'>,
  call: AskOptions,
  request: ModelRequest,
): Promise<Asked> => {
  let current = request;
  for (let attempt = 1; ; attempt += 1) {
    const asked = await askOnce(ports, call, current);
    if ('answer' in asked) return asked;
    const shorter = current === request ? shortened(asked.error, current) : undefined;
    const waitMs = modelRetryMs(asked.error, attempt);
    if (asked.hasText || (shorter === undefined && waitMs === undefined)) throw asked.error;
    if (shorter === undefined) await ports.world.sleep(waitMs ?? 0, call.signal);
    else current = shorter;
  }
};

const retriesMax = 3;
const firstWaitMs = 500;
/** A provider that asks for a longer wait fails the call instead. */
const waitMsMax = 20_000;
const passing: readonly string[] = ['provider_rate_limited', 'provider_overloaded', 'provider_unavailable'];

/** Milliseconds to wait before the model is asked again after a fault that may pass; undefined when it is final. */
export const modelRetryMs = (error: unknown, attempt: number): number | undefined => {
  if (!isAppError(error) || !passing.includes(error.code) || attempt > retriesMax) return undefined;
  const seconds = Number(error.details.context?.['retryAfter']);
  const waitMs = seconds >= 0 ? seconds * 1000 : firstWaitMs * 3 ** (attempt - 1);
  return waitMs > waitMsMax ? undefined : waitMs;
};

type Failed = { readonly error: unknown; readonly hasText: boolean };

const askOnce = async (
  ports: Deps<'models' | 'world'>,
  call: AskOptions,
  request: ModelRequest,
): Promise<Asked | Failed> => {
  const messageId = ports.world.uuid() as MessageId;
  let hasText = false;
  const onText = (): void => {
    if (!hasText) call.onFirstText?.();
    hasText = true;
  };
  try {
    return { messageId, answer: await streamOnce(ports, call, { request, messageId, onText }) };
  } catch (error) {
    call.signal.throwIfAborted();
    return { error, hasText };
  }
};

const shortened = (error: unknown, request: ModelRequest): ModelRequest | undefined => {
  if (!isAppError(error) || error.code !== 'context_too_long') return undefined;
  const history = halved(request.history);
  return history.length < request.history.length ? { ...request, history } : undefined;
};

const streamOnce = async (
  { models, world }: Deps<'models' | 'world'>,
  { context: { publisher, session }, signal }: AskOptions,
  { request, messageId, onText }: { request: ModelRequest; messageId: MessageId; onText: () => void },
): Promise<Answer> => {
  const relay = openTextRelay({ publisher, world, lengthOf: (text) => text.length }, (id: MessageId, piece) =>
    unnumberedFrame('delta', { sessionId: session.id, at: world.now(), data: { messageId: id, ...piece } }),
  );
  const provider: ModelProvider = await models.open(session.provider);
  const answer: Answer = {
    text: '',
    calls: [],
    end: 'end_turn',
    usage: { inputTokens: 0, outputTokens: 0 },
    textBytes: 0,
    argumentBytes: 0,
    providerState: undefined,
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
      answer.textBytes += utf8Bytes(chunk.text);
      break;
    case 'call': {
      const callId = isUsable(chunk.callId) ? chunk.callId : (`call_${now}_${answer.calls.length}` as CallId);
      answer.calls.push({ callId, name: chunk.name, args: chunk.args });
      answer.argumentBytes += utf8Bytes(JSON.stringify(chunk.args));
      break;
    }
    case 'end':
      answer.end = chunk.end;
      answer.usage = chunk.usage;
      answer.providerState = chunk.providerState;
      break;
  }
  if (answer.textBytes > answerTextBytesMax) throw tooMuch('text', answerTextBytesMax);
  if (answer.argumentBytes > answerArgumentsBytesMax)
    throw tooMuch('tool arguments', answerArgumentsBytesMax);
};

const tooMuch = (what: string, bytesMax: number): AppError =>
  new AppError('content_refused', `the model's answer has over ${bytesMax} bytes of ${what}`);

/** A client must be able to name the call when it approves it. */
const isUsable = (callId: CallId | undefined): callId is CallId =>
  callId !== undefined && callId !== '' && callId.length <= clientIdCharactersMax;
