/** The number of requests that work for a session, a call or an attached client, at this moment. */

export type WorkCount = {
  /** Gives back the end of the work. */
  readonly begin: () => () => void;
  readonly isBusy: () => boolean;
};

export const createWorkCount = (): WorkCount => {
  let count = 0;
  return {
    begin: () => {
      count += 1;
      return () => {
        count -= 1;
      };
    },
    isBusy: () => count > 0,
  };
};
