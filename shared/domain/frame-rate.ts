/**
 * The frame rate of a connection: a bucket that refills steadily, counted by every function that handles a frame.
 *
 * The table holds the bucket as the time at which it is full again. A frame after a silence costs no write: it is counted
 * with the next one, or not at all, since the bucket is full by then. A frame that is known to have no room costs none
 * either. So what passes beyond the limit is one frame for each function at most.
 */
import { frameBurstMax, framesPerSecondMax } from './limits.ts';

export type FrameCount = {
  /** As the table said it last, in epoch milliseconds. */
  readonly fullAt: number;
  /** Let through here, and not in the table yet. */
  readonly pending: number;
  readonly lastAt: number;
};

export const frameIntervalMs = 1000 / framesPerSecondMax;
/** The time in which an empty bucket fills, in milliseconds. */
export const frameBucketMs = frameBurstMax * frameIntervalMs;

export type FrameStep =
  | { readonly step: 'pass' | 'refuse'; readonly count: FrameCount }
  /** To be taken from the table, this one included; then `afterTake` says. */
  | { readonly step: 'take'; readonly frames: number };

export const frameStep = (known: FrameCount | undefined, now: number): FrameStep => {
  if (known === undefined) return { step: 'take', frames: 1 };
  const { fullAt, pending, lastAt } = known;
  // Silent here as long as a bucket takes to fill.
  if (now - lastAt >= frameBucketMs) return { step: 'pass', count: { fullAt, pending: 1, lastAt: now } };
  // The table's time only grows: what has no room by what is known has none.
  if (fullAt + frameIntervalMs > now + frameBucketMs)
    return { step: 'refuse', count: { ...known, lastAt: now } };
  return { step: 'take', frames: pending + 1 };
};

export type Taken = { readonly isTaken: boolean; readonly fullAt: number };

/** Frames that were let through before stay to be counted where there was no room for all. */
export const afterTake = (
  known: FrameCount | undefined,
  { isTaken, fullAt }: Taken,
  now: number,
): FrameCount => ({ fullAt, pending: isTaken ? 0 : (known?.pending ?? 0), lastAt: now });
