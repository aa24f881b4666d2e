/**
 * Trying again, later each time: the schedule of a connection that was lost.
 *
 * A little chance keeps all pages of a restarted server from coming back at the same moment.
 */

/** The pauses between tries; the last one is repeated. */
const pausesMs = [300, 1000, 2000, 4000, 8000, 15_000] as const;

export type Retry = {
  /** How many tries in a row have failed, and when the next one is, in epoch milliseconds. */
  readonly later: () => { readonly failures: number; readonly nextAt: number };
  /** For one that waits. */
  readonly now: () => void;
  readonly succeeded: () => void;
  readonly stop: () => void;
};

export const scheduleRetries = (run: () => void): Retry => {
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const runNow = (): void => {
    stop();
    run();
  };
  return {
    later: () => {
      failures += 1;
      const pauseMs = pausesMs[Math.min(failures, pausesMs.length) - 1] ?? 0;
      const waitMs = pauseMs * (0.8 + 0.4 * Math.random());
      timer = setTimeout(runNow, waitMs);
      return { failures, nextAt: Date.now() + waitMs };
    },
    now: () => {
      if (timer !== undefined) runNow();
    },
    succeeded: () => {
      failures = 0;
    },
    stop,
  };
};
