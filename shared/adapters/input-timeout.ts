/**
 * A timeout for input that passes only after all input that has arrived was handled.
 *
 * A timer of Node is run before the event loop looks for input. A function that stood still (a collection of garbage, a busy machine, a
 * frozen environment) would take its own pause for the silence of the other side, although the answer lies in its socket.
 */

/** Calls `onPassed` after `ms`, unless it is stopped before; gives back that stop. */
export const startInputTimeout = (ms: number, onPassed: () => void): (() => void) => {
  let afterInput: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    // Immediates run behind the phase of the loop that reads input: https://nodejs.org/en/learn/asynchronous-work/event-loop-timers-and-nexttick
    afterInput = setImmediate(onPassed);
  }, ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(afterInput);
  };
};
