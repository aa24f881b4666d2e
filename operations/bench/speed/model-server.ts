/**
 * A model's server in a process of its own, on the streamed Messages wire: it answers each request with many short deltas, as
 * fast as they are taken. Started as a program it prints its address.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export const deltasPerAnswer = 2000;
/** Of one delta, in characters. */
export const deltaText = 'a word or so of text ';

const usage = { input_tokens: 10, output_tokens: 5 };
const begin = {
  type: 'message_start',
  message: {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [] },
    ...{ stop_reason: null, stop_sequence: null, usage },
  },
};
const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: deltaText } };
const written = (event: { readonly type: string }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

const head = [begin, { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }]
  .map(written)
  .join('');
const tail = [
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
  { type: 'message_stop' },
]
  .map(written)
  .join('');

const serve = (): void => {
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    if (!request.url?.includes('/messages')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens":1,"data":[]}');
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(head);
    for (let sent = 0; sent < deltasPerAnswer; sent += 1) response.write(written(delta));
    response.end(tail);
  });
  server.listen(0, '127.0.0.1', () =>
    process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`),
  );
};

if (import.meta.main) serve();
