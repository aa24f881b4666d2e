/**
 * One answer from any provider: requested, retried where that is quick and safe, read, with its failures
 * translated.
 *
 * Retries belong to the turn, which can tell its user and outlive this function; an SDK's own may sleep for as
 * long as a `retry-after` header says, and are off. One quick second try stays, for a request that failed before
 * its answer began and without a `retry-after`: a connection that a frozen function kept open is found dead only
 * when it is used. A request that is refused for its thinking, its provider state or its images is sent again with less.
 *
 * Text that comes in one read of the connection is one chunk, however many events the provider made of it; the first text
 * of an answer waits for none that lies behind it. An answer that its
 * caller leaves, or that is aborted, ends its request at once.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type {
  ModelChunk,
  ModelRequest,
  ProviderName,
  ThinkingLevel,
  TokenUsage,
} from '#shared/domain/model.ts';
import { isUnchargedStatus } from '#shared/domain/price.ts';
import { AppError, isAppError, isUncharged } from '#shared/errors.ts';
import type { MayResend, ModelCaller } from '#shared/ports/models.ts';
import { toolNamesOf } from './call-arguments.ts';
import { gathered } from './gathered-stream.ts';
import { meanings, providerError } from './provider-errors.ts';
import { hasProviderState, type ModelRef } from './provider-state.ts';
import { toolRefusal } from './refused-tools.ts';
import { hasImages } from './request-images.ts';
import type { ToolNameRule, ToolNames } from './tool-names.ts';

/** The part of a wish for thinking that is sent: a level whose thoughts are shown, a level alone, or nothing. */
export type ShownThinking = 'shown' | 'unshown' | 'unset';

/** Parts of a request that a provider may refuse, and does without. */
export type Sending = {
  readonly withState: boolean;
  readonly withImages: boolean;
  readonly thinking: ShownThinking;
};

/** The reader of one answer. Its failures are AppErrors, or those of reading an event of another shape than the SDK says. */
export type AnswerReader<E> = {
  /** Records one event, and returns the text and the thoughts in it. */
  readonly take: (event: E) => readonly ModelChunk[];
  /** After the last event: the calls and the end. */
  readonly end: () => readonly ModelChunk[];
  /** As the provider has reported it so far. Undefined: it has not. */
  readonly usage: () => TokenUsage | undefined;
};

export type Readable = { readonly names: ToolNames; readonly modelRef: ModelRef };
export type Sent = {
  readonly request: ModelRequest;
  readonly names: ToolNames;
  readonly sending: Sending;
};

export type Wire<E> = {
  readonly provider: ProviderName;
  readonly toolNameRule: ToolNameRule;
  /** Settles when the answer begins. The signal is of the whole answer. */
  readonly send: (sent: Sent, signal: AbortSignal) => Promise<AsyncIterable<E>>;
  readonly read: (readable: Readable) => AnswerReader<E>;
  readonly errors: WireErrors;
};

/** The meaning of what an SDK throws. */
export type WireErrors = {
  readonly isPassing: (error: unknown) => boolean;
  /** The request is refused for its level of thinking, or for showing it. */
  readonly isRefusedThinking: (error: unknown) => boolean;
  readonly isRefusedState: (error: unknown) => boolean;
  /** The request is refused, not for its key, its rate or its length. */
  readonly isRefusedRequest: (error: unknown) => boolean;
  readonly translate: (error: unknown, model: string) => AppError;
};

/** A wire, for one request. */
type Asked<E> = Omit<WireErrors, 'translate'> & {
  readonly send: (sending: Sending, signal: AbortSignal) => Promise<AsyncIterable<E>>;
  readonly translate: (error: unknown) => AppError;
};

type Hearing = ModelCaller & { readonly signal: AbortSignal };

const secondTryPauseMs = 300;

export async function* streamAnswer<E>(
  { provider, toolNameRule, send, read, errors }: Wire<E>,
  request: ModelRequest,
  { signal, mayResend = async () => true, onUsage }: Hearing,
): AsyncGenerator<ModelChunk> {
  const { history, model, thinking, tools } = request;
  const names = toolNamesOf(request, toolNameRule);
  const asked: Asked<E> = {
    ...errors,
    send: (sending, heard) => send({ request, names, sending }, heard),
    translate: (error) => errors.translate(error, model),
  };
  const sending = {
    withState: hasProviderState(history),
    withImages: hasImages(history),
    thinking: firstShown(thinking),
  };
  const stop = new AbortController();
  const heard = AbortSignal.any([signal, stop.signal]);
  const { events, withoutHistory } = await begin(asked, { sending, signal: heard, mayResend, tools });
  const reader = read({ names, modelRef: { provider, model, withoutHistory } });
  let hasSpoken = false;
  const isUrgent = (): boolean => !hasSpoken;
  try {
    for await (const arrived of received(events, asked, { signal, isUrgent }))
      for (const chunk of readAll(reader, arrived, onUsage)) {
        hasSpoken = true;
        yield chunk;
      }
    yield* endOf(reader);
  } finally {
    stop.abort(leftByReader);
  }
}

/** One for all, since a reason that is made for each abort records a stack. */
const leftByReader = new Error('the answer is no longer read');

/**
 * Text and thoughts that follow each other are one chunk. An event that fails is thrown after all before it was given. Usage is told
 * before, since its reader may end the answer with a chunk.
 */
function* readAll<E>(
  { take, usage }: AnswerReader<E>,
  events: readonly E[],
  onUsage: ModelCaller['onUsage'],
): Generator<ModelChunk> {
  const chunks: ModelChunk[] = [];
  let open: { readonly type: 'text' | 'reasoning'; text: string } | undefined;
  try {
    for (const event of events)
      for (const chunk of take(event))
        if (chunk.type !== 'text' && chunk.type !== 'reasoning') chunks.push(chunk);
        else if (open?.type === chunk.type) open.text += chunk.text;
        else {
          open = { type: chunk.type, text: chunk.text };
          chunks.push(open);
        }
  } catch (error) {
    tellUsage(usage(), onUsage);
    yield* chunks;
    throw unreadable(error);
  }
  tellUsage(usage(), onUsage);
  yield* chunks;
}

const tellUsage = (usage: TokenUsage | undefined, onUsage: ModelCaller['onUsage']): void => {
  if (usage !== undefined) onUsage?.(usage);
};

const endOf = <E>({ end }: AnswerReader<E>): readonly ModelChunk[] => {
  try {
    return end();
  } catch (error) {
    throw unreadable(error);
  }
};

/** No SDK checks what comes over its wire: an event of another shape is the server's fault. */
const unreadable = (error: unknown): AppError =>
  isAppError(error) ? error : providerError(meanings.garbled, { cause: error });

/** Thoughts of a model that shall have none need not be shown. */
const firstShown = (level: ThinkingLevel | undefined): ShownThinking =>
  level === undefined ? 'unset' : level === 'off' ? 'unshown' : 'shown';

type Attempt = Pick<ModelRequest, 'tools'> & {
  readonly sending: Sending;
  readonly signal: AbortSignal;
  readonly mayResend: MayResend;
};

const begin = async <E>(
  asked: Asked<E>,
  attempt: Attempt,
): Promise<{ readonly events: AsyncIterable<E>; readonly withoutHistory: boolean }> => {
  try {
    return await sendWithLess(asked, attempt);
  } catch (error) {
    attempt.signal.throwIfAborted();
    throw toolRefusal(refusal(error, asked), attempt.tools);
  }
};

/** Before an answer began: whether it is charged for depends on who said no. */
const refusal = (error: unknown, { translate }: Pick<Asked<never>, 'translate'>): AppError => {
  const known = isAppError(error) ? error : translate(error);
  const { code, message, details } = known;
  const status = details.context?.['status'];
  if (typeof status !== 'number' || !isUnchargedStatus(status)) return known;
  return new AppError(code, message, { ...details, context: { ...details.context, isUncharged: true } });
};

const sendWithLess = async <E>(
  asked: Asked<E>,
  attempt: Attempt,
): Promise<{ readonly events: AsyncIterable<E>; readonly withoutHistory: boolean }> => {
  const { sending } = attempt;
  const withLess = (less: Partial<Sending>) =>
    sendWithLess(asked, { ...attempt, sending: { ...sending, ...less } });
  try {
    return { events: await sendWithOneRetry(asked, attempt), withoutHistory: false };
  } catch (error) {
    const { withState, withImages, thinking } = sending;
    if (thinking !== 'unset' && asked.isRefusedThinking(error))
      return withLess({ thinking: thinking === 'shown' ? 'unshown' : 'unset' });
    if (withState && asked.isRefusedState(error))
      return { ...(await withLess({ withState: false })), withoutHistory: true };
    // A model may see no images, or not these: the conversation goes on without them.
    if (!withImages || !asked.isRefusedRequest(error)) throw error;
    return await withLess({ withImages: false });
  }
};

const sendWithOneRetry = async <E>(
  { send, isPassing, translate }: Asked<E>,
  { sending, signal, mayResend }: Attempt,
): Promise<AsyncIterable<E>> => {
  signal.throwIfAborted();
  try {
    return await send(sending, signal);
  } catch (error) {
    if (signal.aborted || !isPassing(error)) throw error;
    if (!isUncharged(refusal(error, { translate })) && !(await mayResend())) throw error;
    await pause(secondTryPauseMs, undefined, { signal });
    return await send(sending, signal);
  }
};

/** Translates every failure within a stream: the SDK's or the wire's. */
async function* received<E>(
  events: AsyncIterable<E>,
  asked: Asked<E>,
  { signal, isUrgent }: { readonly signal: AbortSignal; readonly isUrgent: () => boolean },
): AsyncGenerator<readonly E[]> {
  try {
    yield* gathered(events, { signal, isUrgent });
  } catch (error) {
    fail(error, asked, signal);
  }
  // An SDK may end an aborted stream as if the answer were over.
  signal.throwIfAborted();
}

const fail = (error: unknown, { translate }: Pick<Asked<never>, 'translate'>, signal: AbortSignal): never => {
  signal.throwIfAborted();
  throw isAppError(error) ? error : translate(error);
};
