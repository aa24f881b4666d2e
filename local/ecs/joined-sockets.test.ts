/** Two ends made of streams, so that the order of what happens to them is the test's own. */
import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { joinSockets } from './joined-sockets.ts';

/** A socket whose peer takes each piece only when it is told to. */
const slowSocket = () => {
  const taken: string[] = [];
  const waiting: (() => void)[] = [];
  const socket = new Duplex({
    read: () => undefined,
    write: (bytes: Buffer, _encoding, done) => {
      waiting.push(() => {
        taken.push(bytes.toString());
        done();
      });
    },
  });
  return { socket, taken, take: () => waiting.shift()?.() };
};

test('what was said before the end is heard by one that takes it late', async () => {
  const [client, server] = [slowSocket(), slowSocket()];
  joinSockets(client.socket, server.socket);
  client.socket.push(null);
  server.socket.push('the end of an answer');
  server.socket.push(null);
  await once(server.socket, 'close');
  await setImmediate();
  expect(client.socket.destroyed).toBe(false);
  client.take();
  await once(client.socket, 'close');
  expect(client.taken).toEqual(['the end of an answer']);
});

test('the end of one direction leaves the other open', async () => {
  const [client, server] = [slowSocket(), slowSocket()];
  joinSockets(client.socket, server.socket);
  client.socket.push(null);
  await once(server.socket, 'finish');
  server.socket.push('late');
  await setImmediate();
  client.take();
  expect(client.taken).toEqual(['late']);
  server.socket.push(null);
  await Promise.all([once(client.socket, 'close'), once(server.socket, 'close')]);
});

test.each([
  ['breaks', new Error('reset')],
  ['goes without an end', undefined],
])('a side that %s takes the other with it', async (_how, cause) => {
  const [client, server] = [slowSocket(), slowSocket()];
  joinSockets(client.socket, server.socket);
  client.socket.push('half of');
  client.socket.destroy(cause);
  await once(server.socket, 'close');
  expect(server.socket.readableEnded).toBe(false);
});
