/** Work that a function can leave to others, as a transfer is left to the link: its end is not waited for after an interruption. */

export const untilAborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });

/** Undefined when the signal was aborted first: the work goes on, unheard. */
export const unlessAborted = <T>(signal: AbortSignal, work: Promise<T>): Promise<T | undefined> => {
  work.catch(() => undefined);
  return Promise.race([work, untilAborted(signal)]);
};
