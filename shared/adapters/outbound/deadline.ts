/** A promise with a deadline: a task that cannot be aborted is no longer awaited. */
import { unreachable } from './unreachable.ts';

export type Deadline = { readonly ms: number; readonly signal?: AbortSignal | undefined };

export const within = async <T>({ ms, signal }: Deadline, promise: Promise<T>): Promise<T> => {
  const { promise: never, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(unreachable('it did not answer in time')), ms);
  const onAbort = (): void => reject(unreachable('the request was cancelled'));
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  // The result of the slower of the two is ignored.
  promise.catch(() => undefined);
  try {
    return await Promise.race([never, promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
};
