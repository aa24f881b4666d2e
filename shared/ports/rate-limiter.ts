/** Buckets that refill steadily: for the requests of a token, and for the frames of a connection. */
import type { Taken } from '../domain/frame-rate.ts';

export interface RateLimiter {
  /** False when the bucket is empty. */
  take(key: string, now: number): Promise<boolean>;
}

/** A bucket of frames that all functions share. */
export interface FrameBucket {
  /**
   * Takes milliseconds of refilling from a bucket that takes `bucketMs` to fill, or nothing; returns when it is
   * full again.
   */
  take(
    key: string,
    request: { readonly takenMs: number; readonly bucketMs: number; readonly now: number },
  ): Promise<Taken>;
}
