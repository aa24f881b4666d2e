/**
 * JSON that is sent late: white space, which JSON allows before a value, keeps the connection open until the value is
 * ready. The connections in front of a function end an answer that stays silent.
 */
import { setTimeout as sleep } from 'node:timers/promises';

const keepAliveMs = 15_000;

/** Undefined when the work takes longer. */
export const firstOf = async <T>(work: Promise<T>, waitMs: number): Promise<T | undefined> => {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), waitMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
};

/** White space until the outcome is there, which must not fail, and then its JSON. */
export const lateJson = (outcome: Promise<unknown>): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder();
  const over = new AbortController();
  return new ReadableStream({
    start: (controller) => {
      controller.enqueue(encoder.encode(' '));
      void keepAlive(() => controller.enqueue(encoder.encode(' ')), over.signal);
      void outcome.then((value) => {
        // A reader that went away has closed the stream.
        if (over.signal.aborted) return;
        over.abort();
        controller.enqueue(encoder.encode(JSON.stringify(value)));
        controller.close();
      });
    },
    cancel: () => over.abort(),
  });
};

const keepAlive = async (beat: () => void, over: AbortSignal): Promise<void> => {
  for (;;) {
    await sleep(keepAliveMs, undefined, { signal: over }).catch(() => undefined);
    if (over.aborted) return;
    beat();
  }
};
