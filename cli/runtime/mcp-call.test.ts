import { expect, test } from 'vitest';
import { readEventStream } from './mcp-call.ts';

test('messages are complete, wherever the stream is cut', async () => {
  const bytes = Buffer.from(
    'event: message\ndata: {"a":"é"}\n\n: keep-alive\n\ndata: one\r\ndata: two\r\n\r\n',
  );
  for (let size = 1; size <= bytes.length; size += 1) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    );
    const found: string[] = [];
    for await (const data of readEventStream(ReadableStream.from(chunks))) found.push(data);
    expect(found).toEqual(['{"a":"é"}', 'one\ntwo']);
  }
});
