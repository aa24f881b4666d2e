/**
 * Queues of work that runs one after another: checkpoints and restores, since two at once would each see half of the
 * other; and the code calls of one language, while those of two languages run at once.
 *
 * A call that is cancelled while it waits does not run. Waiting takes nothing from its timeout.
 */

import type { Language } from '../wire/interpreter-messages.ts';
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

export type LanguageQueue = {
  readonly run: <Result>(
    language: Language,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ) => Promise<Result>;
};

const waitingMax = 100;

export const createLanguageQueue = (): LanguageQueue => {
  const lasts = new Map<Language, Promise<void>>();
  let waiting = 0;
  return {
    run: async (language, signal, work) => {
      if (waiting >= waitingMax)
        throw new Refusal('resource_limit_exceeded', `${waiting} calls wait for an interpreter already`);
      waiting += 1;
      const previous = lasts.get(language) ?? Promise.resolve();
      const over = Promise.withResolvers<void>();
      lasts.set(
        language,
        previous.then(() => over.promise),
      );
      try {
        await unlessAborted(previous, signal);
      } catch (cause) {
        over.resolve();
        throw cause;
      } finally {
        waiting -= 1;
      }
      try {
        return await work();
      } finally {
        over.resolve();
      }
    },
  };
};

const unlessAborted = (previous: Promise<void>, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const cancel = (): void =>
      reject(new Refusal('invalid_request', 'the call was cancelled while it waited; it did not run'));
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    void previous.then(() => {
      signal.removeEventListener('abort', cancel);
      resolve();
    });
  });
