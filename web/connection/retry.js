/**
 * Trying again, later each time: the schedule of a connection that was lost.
 *
 * A little chance keeps all pages of a restarted server from coming back at the same moment.
 */

/** The pauses between tries, in milliseconds; the last one is repeated. */
const pausesMs = [300, 1000, 2000, 4000, 8000, 15_000];

/**
 * @typedef {{
 *   readonly later: () => number,
 *   readonly now: () => void,
 *   readonly succeeded: () => void,
 *   readonly stop: () => void,
 * }} Retry `later` says how many tries in a row have failed; `now` is for one that waits
 */

/**
 * @param {() => void} run
 * @returns {Retry}
 */
export const scheduleRetries = (run) => {
  let failures = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const stop = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  const runNow = () => {
    stop();
    run();
  };
  return {
    later: () => {
      failures += 1;
      const pauseMs = pausesMs[Math.min(failures, pausesMs.length) - 1] ?? 0;
      timer = setTimeout(runNow, pauseMs * (0.8 + 0.4 * Math.random()));
      return failures;
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
