/**
 * The stream that a streaming handler writes to, and the global `awslambda` by which a handler declares that it streams.
 *
 * Bytes leave as messages. A write waits while the reader is behind by more than the window, so a slow client slows the
 * function down instead of filling memory.
 */
import { Writable } from 'node:stream';

export type ResponseStream = {
  readonly writable: Writable;
  /** The reader has taken this many bytes. */
  readonly consumed: (bytes: number) => void;
  /** Ends the stream if the handler did not, and waits until the last byte has left; rejects if the stream failed. */
  readonly finish: () => Promise<void>;
  /** The reader has disconnected: the next write fails. */
  readonly abandon: () => void;
};

type Outlet = {
  readonly began: (contentType: string) => void;
  /** Gets a copy that it may transfer. */
  readonly chunk: (bytes: Uint8Array<ArrayBuffer>) => void;
};

const windowBytesMax = 256 * 1024;
const delimiter = Buffer.alloc(8);
const httpAnswerType = 'application/vnd.awslambda.http-integration-response';

const preludes = new WeakMap<object, Uint8Array>();
const contentTypes = new WeakMap<object, string>();

export const openResponseStream = (outlet: Outlet): ResponseStream => {
  let unread = 0;
  let isBegun = false;
  let isAbandoned = false;
  let release: (() => void) | undefined;

  const emit = (bytes: Uint8Array): void => {
    if (bytes.length === 0) return;
    unread += bytes.length;
    outlet.chunk(Uint8Array.from(bytes));
  };
  const begin = (): void => {
    if (isBegun) return;
    isBegun = true;
    outlet.began(contentTypes.get(writable) ?? 'application/octet-stream');
    const prelude = preludes.get(writable);
    if (prelude !== undefined) emit(prelude);
  };
  const writable = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      if (isAbandoned) {
        // Later, once the listeners are attached: a destroyed stream does not notify listeners that come afterwards.
        setImmediate(() => writable.destroy(readerDisconnected()));
        return done();
      }
      begin();
      emit(chunk);
      if (unread <= windowBytesMax) return done();
      release = done;
      return undefined;
    },
  });
  // The handler may not listen when the stream fails; `finish` reports the error.
  writable.on('error', () => undefined);
  Object.assign(writable, { setContentType: (type: string) => void contentTypes.set(writable, type) });

  return {
    writable,
    consumed: (bytes) => {
      unread -= bytes;
      if (release === undefined || unread > windowBytesMax) return;
      const done = release;
      release = undefined;
      done();
    },
    finish: () => finish(writable),
    abandon: () => {
      isAbandoned = true;
      if (isBegun) writable.destroy(readerDisconnected());
    },
  };
};

const readerDisconnected = (): Error => new Error('the reader of the answer has disconnected');

const finish = (writable: Writable): Promise<void> =>
  new Promise((resolve, reject) => {
    if (writable.writableFinished) return resolve();
    if (writable.errored) return reject(writable.errored);
    writable.once('finish', resolve);
    writable.once('error', reject);
    if (!writable.writableEnded) writable.end();
    return undefined;
  });

/**
 * `awslambda.HttpResponseStream.from`: status and headers as JSON, eight NUL bytes, then the body. As on
 * AWS they leave with the first write, so an answer without a body needs an empty one.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-response-streaming.html
 */
const startHttpAnswer = (writable: Writable, metadata: unknown): Writable => {
  contentTypes.set(writable, httpAnswerType);
  preludes.set(writable, Buffer.concat([Buffer.from(JSON.stringify(metadata)), delimiter]));
  return writable;
};

/** The mark that the Node.js runtime of Lambda sets (https://github.com/aws/aws-lambda-nodejs-runtime-interface-client). */
const streamingMark = Symbol.for('aws.lambda.runtime.handler.streaming');

type Marked = { [streamingMark]?: 'response' };

export const isStreaming = (handler: unknown): boolean =>
  typeof handler === 'function' && (handler as Marked)[streamingMark] === 'response';

/** Adds to the global, since the AWS SDK and Powertools make one of the same name. */
export const installStreaming = (): void => {
  const scope = globalThis as unknown as { awslambda?: Record<string, unknown> };
  scope.awslambda = Object.assign(scope.awslambda ?? {}, {
    streamifyResponse: <H>(handler: H): H => {
      (handler as Marked)[streamingMark] = 'response';
      return handler;
    },
    HttpResponseStream: { from: startHttpAnswer },
  });
};
