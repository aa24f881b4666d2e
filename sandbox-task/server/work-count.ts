/** The number of requests that work for a session, a call or an attached client, at this moment. */

export type WorkCount = {
  /** Gives back the end of the work. */
  readonly begin: () => () => void;
  readonly isBusy: () => boolean;
  /** When the last one began, by `performance.now()`; undefined: none has. */
  readonly begunAt: () => number | undefined;
};

export const createWorkCount = (): WorkCount => {
  let count = 0;
  let begunAt: number | undefined;
  return {
    begin: () => {
      count += 1;
      begunAt = performance.now();
      return () => {
        count -= 1;
      };
    },
    isBusy: () => count > 0,
    begunAt: () => begunAt,
  };
};
