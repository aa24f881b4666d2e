/**
 * A stream read ahead: everything that comes in one read of its connection is given as one list, since a step of an async
 * iteration costs more than handling one event of a provider.
 *
 * A list is given as soon as the process has read what has arrived; it does not wait for more. It is given before a failure or
 * an abort that came after it is thrown. An abort takes effect at once, even while the stream is silent.
 */

import { setImmediate as turnOfLoop } from 'node:timers/promises';

/** Items that wait for a slow reader; the stream is not read on until they are taken. */
export const itemsMax = 5000;

type Gathering = {
  readonly signal: AbortSignal;
  /** True while each item is to be given by itself, before what lies behind it is read. */
  readonly isUrgent?: () => boolean;
};

export async function* gathered<T>(
  stream: AsyncIterable<T>,
  { signal, isUrgent = () => false }: Gathering,
): AsyncGenerator<readonly T[]> {
  let waiting: T[] = [];
  let end: { readonly error?: unknown } | undefined;
  let isLeft = false;
  let arrived = Promise.withResolvers<void>();
  let taken = Promise.withResolvers<void>();
  const finish = (how: { readonly error?: unknown }): void => {
    end ??= how;
    arrived.resolve();
  };
  const read = async (): Promise<void> => {
    for await (const item of stream) {
      if (isLeft) return;
      waiting.push(item);
      if (isUrgent()) {
        arrived.resolve();
        // Its reader goes on first: parsing what lies behind it would take the processor from a post of it.
        await turnOfLoop();
      } else if (waiting.length === 1) {
        // Once all that lay there has been parsed: until then nothing but reads and microtasks run.
        setImmediate(arrived.resolve);
      }
      if (waiting.length === itemsMax) await taken.promise;
    }
  };
  const onAbort = (): void => finish({ error: signal.reason });
  signal.addEventListener('abort', onAbort, { once: true });
  read().then(
    // The last items are with their reader by then, and others have had their turn.
    () => setImmediate(finish, {}),
    (error: unknown) => finish({ error }),
  );
  try {
    for (;;) {
      if (end === undefined) await arrived.promise;
      const items = waiting;
      waiting = [];
      arrived = Promise.withResolvers();
      taken.resolve();
      taken = Promise.withResolvers();
      if (items.length > 0) yield items;
      else if (end !== undefined) break;
    }
  } finally {
    isLeft = true;
    taken.resolve();
    signal.removeEventListener('abort', onAbort);
  }
  if ('error' in end) throw end.error;
}
