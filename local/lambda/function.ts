/**
 * A Lambda function (name, module, environment, limits) and one invocation of it, as its caller sees it.
 *
 * A buffered function answers with one chunk, a streaming one with many; both go to the same sink.
 */
import { accountId, region } from '../endpoint/account.ts';
import type { FunctionError } from './worker/messages.ts';

export type FunctionDefinition = {
  readonly name: string;
  /** Absolute path of the module that exports `handler`. */
  readonly entry: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly memoryMb: number;
  /** Reserved concurrency: invocations over it are throttled. */
  readonly concurrencyMax?: number;
  readonly events?: EventLimits;
};

/** Of asynchronous invocations; absent: Lambda's own, which are two retries and six hours. */
export type EventLimits = {
  readonly retriesMax?: number;
  /** An older event is not tried again. */
  readonly ageMsMax?: number;
};

export const arnOf = (name: string): string => `arn:aws:lambda:${region}:${accountId}:function:${name}`;

/** The name in a name, a partial ARN or an ARN, with or without a qualifier. */
export const nameFrom = (reference: string): string => {
  const parts = reference.split(':');
  const marker = parts.indexOf('function');
  return (marker < 0 ? parts[0] : parts[marker + 1]) ?? reference;
};

export type Invocation = { readonly requestId: string; readonly payload: string };

export type Outcome =
  | { readonly kind: 'finished' }
  | { readonly kind: 'failed'; readonly error: FunctionError };

/** The receiver of the answer. The function waits for a promise that `chunk` returns. */
export interface ResponseSink {
  /** The environment has loaded the function, which begins. */
  started?(): void;
  began(contentType: string): void;
  chunk(bytes: Uint8Array): Promise<void> | void;
  /** Aborted when the reader has disconnected. */
  readonly abandoned?: AbortSignal;
}

export type Buffered = { readonly outcome: Outcome; readonly payload: string };

/** Collects a complete answer, for callers that do not stream. */
export const bufferAnswer = async (
  run: (sink: ResponseSink) => Promise<Outcome>,
  started: () => void = () => undefined,
): Promise<Buffered> => {
  const chunks: Uint8Array[] = [];
  const outcome = await run({ started, began: () => undefined, chunk: (bytes) => void chunks.push(bytes) });
  return { outcome, payload: Buffer.concat(chunks).toString() };
};

export const failure = (errorType: string, errorMessage: string): Outcome => ({
  kind: 'failed',
  error: { errorType, errorMessage },
});

export const timedOut = (requestId: string, timeoutMs: number): Outcome =>
  failure(
    'Sandbox.Timedout',
    `RequestId: ${requestId} Error: Task timed out after ${(timeoutMs / 1000).toFixed(2)} seconds`,
  );
