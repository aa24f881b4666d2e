/**
 * The events of a stream of server-sent events whose data is JSON, as a sandbox answers a call. Other lines, as those that keep the
 * connection alive, are passed over. Throws for data that is no JSON.
 */

/** Ends with the stream, or when the signal is aborted. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<unknown> {
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener('abort', cancel, { once: true });
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const from = Math.max(0, text.length - 1);
      text += decoder.decode(value, { stream: true });
      if (!text.includes(eventEnd, from)) continue;
      const events = text.split(eventEnd);
      text = events.pop() ?? '';
      for (const event of events)
        if (event.startsWith(dataField)) yield JSON.parse(event.slice(dataField.length));
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    leave(reader);
  }
}

const eventEnd = '\n\n';
const dataField = 'data: ';

/**
 * The time for which a stream may go on after its last event before it is broken off; one that ends by itself leaves its connection
 * reusable.
 */
const lingerMs = 1000;

const leave = (reader: ReadableStreamDefaultReader<Uint8Array>): void => {
  const linger = setTimeout(() => void reader.cancel().catch(() => undefined), lingerMs).unref();
  const drain = async (): Promise<void> => {
    while (!(await reader.read()).done);
  };
  drain()
    .catch(() => undefined)
    .finally(() => clearTimeout(linger));
};
