/**
 * The back-pressure of the runner: while its pipe to the server is full, no output of a process is read.
 *
 * The kernel then stops the programs that print. Answers to requests are written all the same: they are bounded.
 */
import type { Readable } from 'node:stream';

export type Flow = {
  /** Reads the source while the pipe takes more; the result ends that. */
  readonly read: (source: Readable, onData: (chunk: Buffer) => void) => () => void;
  readonly isPaused: () => boolean;
  /** So often was it paused. */
  readonly pauses: () => number;
};

type DrainedPipe = {
  readonly writableNeedDrain: boolean;
  on(event: 'drain', listener: () => void): unknown;
};

export const createFlow = (pipe: DrainedPipe): Flow => {
  const sources = new Set<Readable>();
  let isPaused = false;
  let pauses = 0;
  const pauseWhenFull = (): void => {
    if (isPaused || !pipe.writableNeedDrain) return;
    isPaused = true;
    pauses += 1;
    for (const source of sources) source.pause();
  };
  pipe.on('drain', () => {
    isPaused = false;
    for (const source of sources) source.resume();
  });
  return {
    read: (source, onData) => {
      const take = (chunk: Buffer): void => {
        onData(chunk);
        pauseWhenFull();
      };
      sources.add(source);
      source.on('data', take);
      if (isPaused) source.pause();
      return () => {
        sources.delete(source);
        source.off('data', take);
      };
    },
    isPaused: () => isPaused,
    pauses: () => pauses,
  };
};
