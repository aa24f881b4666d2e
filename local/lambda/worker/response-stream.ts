/**
 * The stream a streaming handler writes to; its bytes leave as messages, a bounded number at a time.
 *
 * A write is held back while the reader is behind by more than the window, so a slow client slows the
 * function down instead of filling the memory between them.
 */
import { Writable } from 'node:stream';

export type ResponseStream = {
  readonly writable: Writable;
  /** The reader has taken this many bytes. */
  readonly consumed: (bytes: number) => void;
  /** Ends the stream if the handler did not, and waits until the last byte has left; fails where it cannot any more. */
  readonly finish: () => Promise<void>;
  /** Nobody reads any more: who writes is told so, as soon as it does. */
  readonly abandon: () => void;
};

type Outlet = {
  readonly began: (contentType: string) => void;
  /** Gets a copy that it may give away. */
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
        // Not before what answers is attached: a destroyed stream tells nobody who comes later.
        setImmediate(() => writable.destroy(nobodyReads()));
        return done();
      }
      begin();
      emit(chunk);
      if (unread <= windowBytesMax) return done();
      release = done;
      return undefined;
    },
  });
  // A handler may be busy elsewhere when it breaks; how it ended is asked in the end.
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
      if (isBegun) writable.destroy(nobodyReads());
    },
  };
};

const nobodyReads = (): Error => new Error('nobody reads the answer');

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
export const startHttpAnswer = (writable: Writable, metadata: unknown): Writable => {
  contentTypes.set(writable, httpAnswerType);
  preludes.set(writable, Buffer.concat([Buffer.from(JSON.stringify(metadata)), delimiter]));
  return writable;
};
