/** How many requests one token may make: a bucket that refills steadily. */
export interface RateLimiter {
  /** False when the bucket is empty. */
  take(key: string, now: number): Promise<boolean>;
}
