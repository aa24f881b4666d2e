/**
 * One answer from any provider: requested, retried where that is quick and safe, read, with its failures
 * translated.
 *
 * Retries belong to the turn, which can tell its user and outlive this function; an SDK's own may sleep for as
 * long as a `retry-after` header says, and are off. One quick second try stays, for a request that failed before
 * its answer began and without a `retry-after`: a connection that a frozen function kept open is found dead only
 * when it is used. A request that is refused for its provider state is sent again without.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ModelChunk, ModelRequest, ProviderName } from '#shared/domain/model.ts';
import { type AppError, isAppError } from '#shared/errors.ts';
import { hasProviderState, type ModelRef } from './provider-state.ts';

export type Wire<E> = {
  readonly provider: ProviderName;
  /** Settles when the answer begins. */
  readonly send: (withState: boolean) => Promise<AsyncIterable<E>>;
  readonly read: (events: AsyncIterable<E>, modelRef: ModelRef) => AsyncIterable<ModelChunk>;
  readonly isPassing: (error: unknown) => boolean;
  readonly isRefusedState: (error: unknown) => boolean;
  readonly translate: (error: unknown) => AppError;
};

const secondTryPauseMs = 300;

export async function* streamAnswer<E>(
  wire: Wire<E>,
  { history, model }: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelChunk> {
  const withState = hasProviderState(history);
  const { events, withoutHistory } = await begin(wire, { withState, signal });
  yield* wire.read(received(events, wire, signal), { provider: wire.provider, model, withoutHistory });
}

const begin = async <E>(
  wire: Wire<E>,
  { withState, signal }: { readonly withState: boolean; readonly signal: AbortSignal },
): Promise<{ readonly events: AsyncIterable<E>; readonly withoutHistory: boolean }> => {
  try {
    try {
      return { events: await sendWithOneRetry(wire, withState, signal), withoutHistory: false };
    } catch (error) {
      if (!withState || !wire.isRefusedState(error)) throw error;
      return { events: await sendWithOneRetry(wire, false, signal), withoutHistory: true };
    }
  } catch (error) {
    return fail(error, wire, signal);
  }
};

const sendWithOneRetry = async <E>(
  { send, isPassing }: Wire<E>,
  withState: boolean,
  signal: AbortSignal,
): Promise<AsyncIterable<E>> => {
  signal.throwIfAborted();
  try {
    return await send(withState);
  } catch (error) {
    if (signal.aborted || !isPassing(error)) throw error;
    await pause(secondTryPauseMs, undefined, { signal });
    return await send(withState);
  }
};

/** Translates every failure within a stream: the SDK's or the wire's. */
async function* received<E>(events: AsyncIterable<E>, wire: Wire<E>, signal: AbortSignal): AsyncGenerator<E> {
  try {
    for await (const event of events) yield event;
  } catch (error) {
    fail(error, wire, signal);
  }
  // An SDK may end an aborted stream as if the answer were over.
  signal.throwIfAborted();
}

const fail = (error: unknown, { translate }: Pick<Wire<never>, 'translate'>, signal: AbortSignal): never => {
  signal.throwIfAborted();
  throw isAppError(error) ? error : translate(error);
};
