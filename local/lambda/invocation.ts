/**
 * One invocation as seen from outside the environment that runs it.
 *
 * A buffered function answers with one chunk, a streaming one with as many as it likes: callers that want
 * either treat both alike.
 */
export type Invocation = { readonly requestId: string; readonly payload: string };

/** What a caller sees of a failed function; the shape of the body that AWS answers with. */
export type FunctionError = {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace?: readonly string[];
};

export type Outcome =
  | { readonly kind: 'finished' }
  | { readonly kind: 'failed'; readonly error: FunctionError };

/** Where the answer goes. A promise from `chunk` holds the function back until it is kept. */
export interface ResponseSink {
  began(contentType: string): void;
  chunk(bytes: Uint8Array): Promise<void> | void;
  /** Aborted when nobody reads any more. */
  readonly abandoned?: AbortSignal;
}

export type Buffered = { readonly outcome: Outcome; readonly payload: string };

/** Collects a whole answer, for those who invoke without streaming. */
export const bufferAnswer = async (run: (sink: ResponseSink) => Promise<Outcome>): Promise<Buffered> => {
  const chunks: Uint8Array[] = [];
  const outcome = await run({ began: () => undefined, chunk: (bytes) => void chunks.push(bytes) });
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
