/**
 * Asynchronous invocations: each is tried up to three times, and nobody waits for it (A20).
 *
 * They live in memory. A cloud that stops drops what it had accepted, which AWS would not; the program's
 * own recovery (the janitor drives unfinished turns on) does not depend on them.
 * https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html
 */
import { AwsError } from '../endpoint/aws-error.ts';
import type { Outcome } from './invocation.ts';

export type AsyncRetry = {
  readonly run: (attempt: () => Promise<Outcome>) => void;
  readonly stop: () => void;
};

const throttleDelayMs = 200;

export const retryInBackground = (retryDelaysMs: readonly number[]): AsyncRetry => {
  const timers = new Set<NodeJS.Timeout>();
  let isStopped = false;

  const later = (delayMs: number, work: () => void): void => {
    if (isStopped) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      work();
    }, delayMs);
    timers.add(timer);
  };
  const attemptNumber = async (attempt: () => Promise<Outcome>, failures: number): Promise<void> => {
    const outcome = await attempt().catch(asThrottle);
    if (outcome === 'throttled') return later(throttleDelayMs, () => void attemptNumber(attempt, failures));
    const delayMs = retryDelaysMs[failures];
    if (outcome.kind === 'finished' || delayMs === undefined) return undefined;
    return later(delayMs, () => void attemptNumber(attempt, failures + 1));
  };

  return {
    run: (attempt) => later(0, () => void attemptNumber(attempt, 0)),
    stop: () => {
      isStopped = true;
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
};

/** Throttling does not count as an attempt: AWS keeps such an event for hours. */
const asThrottle = (cause: unknown): 'throttled' => {
  if (cause instanceof AwsError && cause.status === 429) return 'throttled';
  throw cause;
};
