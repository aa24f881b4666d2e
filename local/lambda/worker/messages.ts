/**
 * The messages between the main thread and a worker: structured clones, numbered by call.
 *
 * The call number, not the request id, identifies an invocation: a retry has the request id of an attempt that may
 * still be running.
 */

/** The failure of a function, in the shape of the body that AWS answers with. */
export type FunctionError = {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace?: readonly string[];
};

export type WorkerSettings = {
  /** The folder of compiled modules; absent: nothing is kept. */
  readonly compileCache: string | undefined;
};

export type Call = {
  readonly callId: number;
  readonly requestId: string;
  readonly functionName: string;
  readonly functionArn: string;
  readonly memoryMb: number;
  readonly timeoutMs: number;
  readonly entry: string;
  /** The copy of the module that serves it; `undefined` is the plain module. */
  readonly environment: number | undefined;
  readonly payload: string;
};

export type ToWorker =
  | { readonly type: 'call'; readonly call: Call }
  | { readonly type: 'preload'; readonly entry: string; readonly environment: number | undefined }
  | { readonly type: 'consumed'; readonly callId: number; readonly bytes: number }
  /** The reader of the answer has disconnected. */
  | { readonly type: 'abandon'; readonly callId: number }
  | { readonly type: 'ping' };

export type FromWorker =
  | { readonly type: 'started'; readonly callId: number }
  | { readonly type: 'began'; readonly callId: number; readonly contentType: string }
  | { readonly type: 'chunk'; readonly callId: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly type: 'finished'; readonly callId: number }
  | { readonly type: 'failed'; readonly callId: number; readonly error: FunctionError }
  | { readonly type: 'pong' };
