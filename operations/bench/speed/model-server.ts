/**
 * A model's server in a process of its own, on the streamed Messages wire: it answers each request with many short deltas, as
 * fast as they are taken. Started as a program it prints its address.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beginOf, blockStop, endOf, textDelta, textStart, written } from '../../../tests/messages-wire.ts';

export const deltasPerAnswer = 2000;
/** Of one delta, in characters. */
export const deltaText = 'a word or so of text ';

const head = written(beginOf()) + written(textStart);
const tail = [blockStop(0), ...endOf('end_turn')].map(written).join('');

const serve = (): void => {
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    if (!request.url?.includes('/messages')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens":1,"data":[]}');
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(head);
    for (let sent = 0; sent < deltasPerAnswer; sent += 1) response.write(written(textDelta(deltaText)));
    response.end(tail);
  });
  server.listen(0, '127.0.0.1', () =>
    process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`),
  );
};

if (import.meta.main) serve();
