/**
 * The queue of checkpoints and restores: one after another, because two at once would each see half of the
 * other.
 */
import { Refusal } from './refusal.ts';

export type WorkQueue = {
  readonly run: (work: () => Promise<void>) => Promise<void>;
  /** Resolves when everything that waits by now is over. */
  readonly idle: () => Promise<void>;
};

export const createWorkQueue = (waitingMax: number): WorkQueue => {
  let last: Promise<void> = Promise.resolve();
  let waiting = 0;
  return {
    async run(work) {
      if (waiting >= waitingMax) {
        throw new Refusal('resource_limit_exceeded', `${waiting} checkpoints and restores wait already`);
      }
      waiting += 1;
      const previous = last;
      const over = Promise.withResolvers<void>();
      last = over.promise;
      try {
        await previous;
        await work();
      } finally {
        waiting -= 1;
        over.resolve();
      }
    },
    idle: () => last,
  };
};
