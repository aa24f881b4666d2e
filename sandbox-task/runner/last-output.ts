/**
 * The last output of a program that has ended: all that it wrote is read, and no silence is taken for the end before that.
 *
 * Node reaps every child that is dead, not only those of which it was told. One that ended while the event loop was busy
 * is reported before its pipes were polled, and a timer may be over by then too.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as delay, setImmediate as nextCheck } from 'node:timers/promises';

/** Resolves once the event loop has polled every pipe: it does so between two checks. */
const polled = async (): Promise<void> => {
  await nextCheck();
  await nextCheck();
};

/** True once all are closed, false when that takes longer. */
export const closeWithin = async (sources: readonly Readable[], milliseconds: number): Promise<boolean> => {
  const open = sources.filter((source) => !source.closed);
  const over = new AbortController();
  const { signal } = over;
  const isClosed = Promise.all(open.map((source) => once(source, 'close', { signal }))).then(() => true);
  isClosed.catch(() => undefined);
  try {
    return (await Promise.race([isClosed, delay(milliseconds, false)])) || (await polled().then(() => false));
  } finally {
    // A pipe that a program in the background holds is waited for again and again.
    over.abort();
  }
};

/** The last bytes are awaited for this long while a background process holds the pipe open, in milliseconds. */
const drainMsMax = 50;

/** The pipes are read to their end, unless something left in the background keeps them open. */
export const drain = async ({ stdout, stderr }: ChildProcess): Promise<void> => {
  await closeWithin(
    [stdout, stderr].filter((source) => source !== null),
    drainMsMax,
  );
};
