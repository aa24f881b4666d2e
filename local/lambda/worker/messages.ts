/**
 * What the main thread and a worker tell each other: structured-clone messages, numbered by call.
 *
 * The call number, not the request id, tells invocations apart: a retry has the request id of an attempt
 * that may still be running.
 */
import type { FunctionError } from '../invocation.ts';

export type Call = {
  readonly callId: number;
  readonly requestId: string;
  readonly functionName: string;
  readonly functionArn: string;
  readonly memoryMb: number;
  readonly timeoutMs: number;
  readonly entry: string;
  /** Which copy of the module serves it; `undefined` is the plain module. */
  readonly environment: number | undefined;
  readonly payload: string;
};

export type ToWorker =
  | { readonly type: 'call'; readonly call: Call }
  | { readonly type: 'preload'; readonly entry: string; readonly environment: number | undefined }
  | { readonly type: 'consumed'; readonly callId: number; readonly bytes: number }
  /** Nobody reads the answer any more. */
  | { readonly type: 'abandon'; readonly callId: number }
  | { readonly type: 'ping' };

export type FromWorker =
  | { readonly type: 'started'; readonly callId: number }
  | { readonly type: 'began'; readonly callId: number; readonly contentType: string }
  | { readonly type: 'chunk'; readonly callId: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly type: 'finished'; readonly callId: number }
  | { readonly type: 'failed'; readonly callId: number; readonly error: FunctionError }
  | { readonly type: 'pong' };
