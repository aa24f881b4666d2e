/**
 * The order of frames without numbers: each waits a moment for those that the gateway had received before it.
 *
 * A frame that comes later than that is written when it comes.
 */
import { arrivalOrderMs } from '#shared/domain/limits.ts';

export type ArrivalOrder = {
  /** `stream`: of one connection, into one process. `at`: the time at which the gateway received it, in epoch milliseconds. */
  readonly write: (stream: string, at: number, write: () => Promise<void>) => Promise<void>;
};

type Waiting = { readonly at: number; readonly run: () => Promise<void> };
type Stream = { readonly waiting: Waiting[]; last: Promise<void> };

export const createArrivalOrder = (waitMs: number = arrivalOrderMs): ArrivalOrder => {
  const streams = new Map<string, Stream>();
  const writeUntil = (name: string, stream: Stream, at: number): void => {
    while (stream.waiting[0] !== undefined && stream.waiting[0].at <= at) {
      const { run } = stream.waiting.shift() as Waiting;
      stream.last = stream.last.then(run);
    }
    const { last } = stream;
    void last.then(() => {
      if (stream.waiting.length === 0 && stream.last === last) streams.delete(name);
    });
  };
  return {
    write: (name, at, write) =>
      new Promise((resolve, reject) => {
        const stream = streams.get(name) ?? { waiting: [], last: Promise.resolve() };
        streams.set(name, stream);
        const place = stream.waiting.findIndex((other) => other.at > at);
        const run = () => write().then(resolve, reject);
        stream.waiting.splice(place < 0 ? stream.waiting.length : place, 0, { at, run });
        // The clocks of the gateway and of this machine differ.
        const leftMs = Math.min(waitMs, Math.max(0, at + waitMs - Date.now()));
        setTimeout(() => writeUntil(name, stream, at), leftMs);
      }),
  };
};
