/** Waits for work until it ends or is aborted. The work must be one that another function finishes, such as a transfer of the link. */

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
