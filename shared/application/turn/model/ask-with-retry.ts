/**
 * Asks a model for one whole answer: streams its text to the subscribers, retries after faults that pass, and tries once
 * with half of a conversation that is too long. Subscribers are told of each wait. An interruption is thrown.
 */

import { iso } from '../../../contracts/fields.ts';
import { unnumberedFrame } from '../../../contracts/frames.ts';
import { retryAfterMs } from '../../../contracts/retry-after.ts';
import { halved } from '../../../domain/history.ts';
import type { CallId, MessageId } from '../../../domain/ids.ts';
import type { JsonObject } from '../../../domain/json.ts';
import {
  answerArgumentsBytesMax,
  answerReasoningBytesMax,
  answerTextBytesMax,
  providerCallIdCharactersMax,
} from '../../../domain/limits.ts';
import type { AnswerEnd, ModelChunk, ModelRequest, TokenUsage } from '../../../domain/model.ts';
import type { RequestedCall } from '../../../domain/requested-call.ts';
import { cutBytes, utf8Bytes } from '../../../domain/text.ts';
import { modelWaitMs } from '../../../domain/turn/model-retry.ts';
import type { PartialAnswer, Reasoning } from '../../../domain/turn/turn.ts';
import { AppError, isAppError, isUncharged } from '../../../errors.ts';
import type { MayResend, ModelProvider } from '../../../ports/models.ts';
import type { Deps } from '../../deps.ts';
import { openTextBatches } from '../../events/text-batches.ts';
import type { TurnContext } from '../holder/turn-context.ts';
import type { CallMeter } from './call-meter.ts';
import type { Reserved } from './reserve-in-tree.ts';

export type AskOptions = {
  readonly context: TurnContext;
  readonly signal: AbortSignal;
  /** Told of each try. */
  readonly meter: CallMeter;
  /** For each try. */
  readonly reserved: Reserved;
  readonly costOf: (usage: TokenUsage) => number;
  /** Asked before a further try when the last one may be charged for. */
  readonly mayResend: MayResend;
  /** The first text has come. */
  readonly onFirstText: () => void;
  /** All text of the answer that has come so far. */
  readonly onText: (said: PartialAnswer) => void;
};

type Answer = {
  text: string;
  reasoning: Reasoning | undefined;
  calls: RequestedCall[];
  end: AnswerEnd;
  usage: TokenUsage;
  textBytes: number;
  reasoningBytes: number;
  argumentBytes: number;
  providerState: JsonObject | undefined;
};

/** With the request that it answers. */
type Asked = { readonly messageId: MessageId; readonly answer: Answer; readonly request: ModelRequest };

/** A try that failed; with the text that was streamed before, which may be empty. */
type Failed = {
  readonly error: unknown;
  readonly messageId: MessageId;
  readonly text: string;
  /** The provider may have got the request. */
  readonly isSent: boolean;
};

export type FailedAnswer = Failed & {
  /** The number of tries, from 1. */
  readonly attempt: number;
  /** Epoch milliseconds at which the provider may answer, if it says so. */
  readonly retryAt: number | undefined;
};

/** Faults that pass are waited out until text was streamed; one answer of "too long" halves the conversation. */
export const askModel = async (
  ports: Deps<'models' | 'world'>,
  call: AskOptions,
  request: ModelRequest,
): Promise<Asked | FailedAnswer> => {
  const { world } = ports;
  let current = request;
  for (let attempt = 1; ; attempt += 1) {
    const asked = await askOnce(ports, call, current);
    if ('answer' in asked) return asked;
    const shorter = current === request ? shortened(asked.error, current) : undefined;
    const { wait, retryAt } = waitAfter(asked.error, attempt, world.now());
    const again = asked.text === '' ? (shorter ?? wait) : undefined;
    if (again === undefined) return { ...asked, attempt, retryAt };
    if (!(await mayAskAgain(call, asked))) return { ...asked, attempt, retryAt };
    if ('history' in again) current = again;
    else {
      await announceRetry(call.context, again);
      await world.sleep(again.waitMs, call.signal);
    }
  }
};

/** A try that the provider may charge for is paid for before the next. */
const mayAskAgain = async ({ mayResend, meter }: AskOptions, { error, isSent }: Failed): Promise<boolean> => {
  if (!isSent || isUncharged(error)) return true;
  const isGranted = await mayResend();
  if (isGranted) meter.reservedAnew();
  return isGranted;
};

type Wait = {
  readonly error: AppError;
  readonly attempt: number;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly waitMs: number;
};

/** The wait for the next try, if there is one, and when the provider may answer, if it says so. */
const waitAfter = (
  error: unknown,
  attempt: number,
  now: number,
): { readonly wait?: Wait; readonly retryAt: number | undefined } => {
  if (!isAppError(error) || !passingCodes.includes(error.code)) return { retryAt: undefined };
  const askedMs = retryAfterMs(error.details.context?.['retryAfter'], now);
  const waitMs = modelWaitMs({ attempt, askedMs });
  const retryAt = askedMs === undefined ? undefined : now + askedMs;
  return waitMs === undefined ? { retryAt } : { wait: { error, attempt, now, waitMs }, retryAt };
};

const passingCodes: readonly string[] = [
  'provider_rate_limited',
  'provider_overloaded',
  'provider_unavailable',
];

/** Best effort, like text: the log gets the failure that ends the turn. */
const announceRetry = (
  { publisher, session }: TurnContext,
  { error: { code, message }, attempt, now, waitMs }: Wait,
): Promise<void> => {
  const retryAt = iso(now + waitMs);
  const data = { kind: 'model_retry', code, message, provider: session.provider, attempt, retryAt };
  return publisher.publish([unnumberedFrame('system', { sessionId: session.id, at: now, data })]);
};

const askOnce = async (
  ports: Deps<'models' | 'world'>,
  call: AskOptions,
  request: ModelRequest,
): Promise<Asked | Failed> => {
  const messageId = ports.world.uuid() as MessageId;
  let text = '';
  let isSent = false;
  const onSent = (): void => {
    isSent = true;
    call.meter.sent(call.reserved, call.costOf);
  };
  const onText = (piece: string): void => {
    if (text === '') call.onFirstText();
    text += piece;
    call.onText({ messageId, text });
  };
  try {
    const answer = await streamOnce(ports, call, { request, messageId, onSent, onText });
    return { messageId, answer, request };
  } catch (error) {
    if (isUncharged(error)) call.meter.refused();
    call.signal.throwIfAborted();
    return { error, messageId, text, isSent };
  }
};

const shortened = (error: unknown, request: ModelRequest): ModelRequest | undefined => {
  if (!isAppError(error) || error.code !== 'context_too_long') return undefined;
  const history = halved(request.history);
  return history.length < request.history.length ? { ...request, history } : undefined;
};

type Try = {
  readonly request: ModelRequest;
  readonly messageId: MessageId;
  /** The request is on its way: it may be charged for. */
  readonly onSent: () => void;
  readonly onText: (piece: string) => void;
};

const streamOnce = async (
  { models, world }: Deps<'models' | 'world'>,
  { context: { publisher, session }, signal, mayResend, meter }: AskOptions,
  { request, messageId, onSent, onText }: Try,
): Promise<Answer> => {
  const relay = openTextBatches(
    { publisher, world, lengthOf: (text) => text.length },
    (type: 'delta' | 'reasoning_delta', piece) =>
      unnumberedFrame(type, { sessionId: session.id, at: world.now(), data: { messageId, ...piece } }),
  );
  const provider: ModelProvider = await models.open(session.provider);
  const answer: Answer = {
    text: '',
    reasoning: undefined,
    calls: [],
    end: 'end_turn',
    usage: { inputTokens: 0, outputTokens: 0 },
    textBytes: 0,
    reasoningBytes: 0,
    argumentBytes: 0,
    providerState: undefined,
  };
  // The wait before a further try ends early, without an error.
  signal.throwIfAborted();
  onSent();
  for await (const chunk of provider.stream(request, signal, { mayResend, onUsage: meter.reported })) {
    if (chunk.type === 'end') meter.ended(chunk.usage);
    if (chunk.type === 'text') {
      onText(chunk.text);
      relay.push('delta', { offset: answer.text.length, text: chunk.text });
    }
    if (chunk.type === 'reasoning') {
      const offset = answer.reasoning?.text.length ?? 0;
      const text = takeReasoning(answer, chunk.text);
      if (text !== '') relay.push('reasoning_delta', { offset, text });
    }
    take(answer, chunk, world.now());
  }
  // The publisher posts these before the events of the answer's commit, which does not wait for them.
  void relay.flush();
  return answer;
};

/** Keeps what there is room for, and returns it. */
const takeReasoning = (answer: Answer, text: string): string => {
  const { text: before, truncated } = answer.reasoning ?? { text: '' };
  if (truncated) return '';
  const kept = cutBytes(text, answerReasoningBytesMax - answer.reasoningBytes);
  answer.reasoningBytes += utf8Bytes(kept);
  answer.reasoning = { text: before + kept, ...(kept.length < text.length ? { truncated: true } : {}) };
  return kept;
};

const take = (answer: Answer, chunk: ModelChunk, now: number): void => {
  switch (chunk.type) {
    case 'text':
      answer.text += chunk.text;
      answer.textBytes += utf8Bytes(chunk.text);
      break;
    case 'reasoning':
      // Taken by `takeReasoning`, which says what of it goes out.
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
  callId !== undefined && callId !== '' && callId.length <= providerCallIdCharactersMax;
