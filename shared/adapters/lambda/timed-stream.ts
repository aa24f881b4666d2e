/** A stream of events that ends in time: an invocation that Lambda ends at its timeout counts as failed and loses its metrics. */
import { outputStreamMsMax } from '#shared/domain/limits.ts';

type End = {
  /** The time that has passed of what the stream may last, in milliseconds. */
  readonly passedMs?: number;
  /** Runs before the stream ends, unless its reader has left. */
  readonly atEnd?: () => Promise<void>;
};

/** Passes events on to their end, or for as long as a function may run. */
export const endInTime = (
  source: ReadableStream<Uint8Array>,
  { passedMs = 0, atEnd = async () => undefined }: End = {},
): ReadableStream<Uint8Array> => {
  const reader = source.getReader();
  // A cancelled reader ends as if the source had.
  const stop = () => void reader.cancel().catch(() => undefined);
  const timer = setTimeout(stop, Math.max(0, outputStreamMsMax - passedMs));
  const read = async () => {
    try {
      return await reader.read();
    } catch (error) {
      clearTimeout(timer);
      throw error;
    }
  };
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { value, done } = await read();
      if (!done) {
        controller.enqueue(value);
        return;
      }
      clearTimeout(timer);
      await atEnd();
      controller.close();
    },
    cancel: async () => {
      clearTimeout(timer);
      await reader.cancel();
    },
  });
};

/** Its reader takes the end of a stream of events for a pause; any other answer that was cut must be seen as cut. */
export const isEventStream = (contentType: string | null | undefined): boolean =>
  /^text\/event-stream\s*(;|$)/i.test(contentType ?? '');
