import { expect, test } from 'vitest';
import { readServerEvents } from './server-events.ts';

test('events are complete, wherever the stream is cut', async () => {
  const bytes = Buffer.from(
    'event: message\ndata: {"a":"é"}\n\n: keep-alive\n\ndata: [1,\r\ndata: 2]\r\n\r\n',
  );
  for (let size = 1; size <= bytes.length; size += 1) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    );
    const response = new Response(ReadableStream.from(chunks));
    const found: unknown[] = [];
    for await (const { data } of readServerEvents(response)) found.push(data);
    expect(found).toEqual([{ a: 'é' }, [1, 2]]);
  }
});
