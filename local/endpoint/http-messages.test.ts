import { once } from 'node:events';
import { createServer, get, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { writePaced } from './http-messages.ts';

const piece = Buffer.alloc(256 * 1024);

/** A response that a client takes, and the client. */
const open = async () => {
  const arrived = Promise.withResolvers<ServerResponse>();
  const server = createServer((_request, response) => arrived.resolve(response)).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const request = get({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  request.on('error', () => undefined);
  const response = await arrived.promise;
  response.flushHeaders();
  const [answer] = await once(request, 'response');
  return { response, request, answer };
};

test('no listener is left once a piece has room', async () => {
  const { response, answer } = await open();
  const before = response.listenerCount('close') + response.listenerCount('error');
  let received = 0;
  answer.on('data', ({ length }: Buffer) => {
    received += length;
  });
  for (let count = 0; count < 40; count += 1) await writePaced(response, piece);
  expect(response.listenerCount('close') + response.listenerCount('error')).toBe(before);
  response.end();
  await once(answer, 'end');
  expect(received).toBe(40 * piece.length);
});

test('a caller that disconnects does not block the writer', async () => {
  const { response, request } = await open();
  const pieces = (async () => {
    for (let count = 0; count < 200; count += 1) await writePaced(response, piece);
  })();
  request.destroy();
  await expect(pieces).resolves.toBeUndefined();
});
