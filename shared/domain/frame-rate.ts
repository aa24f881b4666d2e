/**
 * The frame rate of a connection: a bucket that refills steadily, shared by every function that handles a frame.
 *
 * The table holds the bucket as the time at which it is full again. A function asks the table about the first
 * frame that it sees of a connection. Frames at a person's pace cost no write after that: while the bucket is
 * full as far as the function knows, it lets a few through by itself, and counts them with the next one it asks
 * about. A frame that is known to have no room costs no write either.
 */
import { frameBurstMax, framesPerSecondMax, ownFrameMs, ownFramesMax } from './limits.ts';

export type FrameCount = {
  /** The table's last answer, in epoch milliseconds. */
  readonly fullAt: number;
  /** Frames let through here that are not in the table yet. */
  readonly pending: number;
  readonly lastAt: number;
  /** The time from which this function may let `ownFramesMax` frames through again, in epoch milliseconds. */
  readonly ownFullAt: number;
};

export const frameIntervalMs = 1000 / framesPerSecondMax;
/** The time in which an empty bucket fills, in milliseconds. */
export const frameBucketMs = frameBurstMax * frameIntervalMs;

type FrameStep =
  | { readonly step: 'pass' | 'refuse'; readonly count: FrameCount }
  /** Frames to be taken from the table, this one included; `afterTake` then decides. */
  | { readonly step: 'take'; readonly frames: number };

export const frameStep = (known: FrameCount | undefined, now: number): FrameStep => {
  if (known === undefined) return { step: 'take', frames: 1 };
  // The table's time only grows: a frame that has no room by the last known time has none.
  if (known.fullAt + frameIntervalMs > now + frameBucketMs)
    return { step: 'refuse', count: { ...known, lastAt: now } };
  const pending = pendingAt(known, now);
  const ownFullAt = Math.max(known.ownFullAt, now) + ownFrameMs;
  if (known.fullAt <= now && ownFullAt <= now + ownFramesMax * ownFrameMs)
    return { step: 'pass', count: { ...known, pending: pending + 1, lastAt: now, ownFullAt } };
  return { step: 'take', frames: pending + 1 };
};

/** Frames that the bucket has refilled since then need not be counted any more. */
const pendingAt = ({ fullAt, pending, lastAt }: FrameCount, now: number): number =>
  Math.max(fullAt, lastAt) + pending * frameIntervalMs <= now ? 0 : pending;

export type Taken = { readonly isTaken: boolean; readonly fullAt: number };

/** Frames that were let through before stay pending when there was no room for all. */
export const afterTake = (
  known: FrameCount | undefined,
  { isTaken, fullAt }: Taken,
  now: number,
): FrameCount => ({
  fullAt,
  pending: isTaken || known === undefined ? 0 : pendingAt(known, now),
  lastAt: now,
  ownFullAt: known?.ownFullAt ?? now,
});
