/**
 * The order of numbered frames: functions of the platform pass the frames of one connection on side by side, and each is
 * written once, after the one before it.
 *
 * A frame that was refused may come again under its number. Nothing is written after one that is missing (TW4).
 */
import { Refusal } from '../refusal.ts';

export type FrameOrder = {
  /** `stream`: of one connection, into one process. `number`: from 0. A number that was written before has no effect. */
  readonly write: (stream: string, number: number, write: () => Promise<void>) => Promise<void>;
};

type Stream = { next: number; isWriting: boolean; readonly waiting: Set<() => void> };

/** The time that a numbered frame waits for the one before it, in milliseconds. */
const frameOrderWaitMs = 5000;
const streamsMax = 1000;
/** More than a connection can send while one of its frames is awaited. */
const waitingMax = 512;

export const createFrameOrder = (waitMs: number = frameOrderWaitMs): FrameOrder => {
  const streams = new Map<string, Stream>();
  const streamOf = (name: string): Stream => {
    const stream = streams.get(name) ?? { next: 0, isWriting: false, waiting: new Set() };
    // The latest one is last: the first entry is the one that was silent for the longest time.
    streams.delete(name);
    streams.set(name, stream);
    const [oldest] = streams.keys();
    if (streams.size > streamsMax && oldest !== undefined) streams.delete(oldest);
    return stream;
  };
  return {
    write: async (name, number, write) => {
      const stream = streamOf(name);
      const endsAt = performance.now() + waitMs;
      while (stream.next < number || stream.isWriting) {
        if (stream.waiting.size >= waitingMax) throw missing(stream.next);
        if (!(await isWoken(stream, endsAt - performance.now()))) throw missing(stream.next);
      }
      if (number < stream.next) return;
      stream.isWriting = true;
      try {
        await write();
        stream.next += 1;
      } finally {
        stream.isWriting = false;
        for (const wake of [...stream.waiting]) wake();
      }
    },
  };
};

/** False when the time is over. */
const isWoken = ({ waiting }: Stream, leftMs: number): Promise<boolean> =>
  new Promise((resolve) => {
    const settle = (result: boolean) => (): void => {
      clearTimeout(timer);
      waiting.delete(wake);
      resolve(result);
    };
    const wake = settle(true);
    const timer = setTimeout(settle(false), Math.max(0, leftMs));
    waiting.add(wake);
  });

const missing = (next: number): Refusal =>
  new Refusal('conflict', `frame ${next} of this connection has not arrived: nothing after it was written`);
