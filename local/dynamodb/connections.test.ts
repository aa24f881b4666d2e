/** The pool of connections, on a server that goes away. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openConnections } from './connections.ts';

test('requests that wait for a connection are refused when none can be opened any more', async () => {
  const accepted: Socket[] = [];
  const server = createServer((socket) => accepted.push(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  let isGone = false;
  const connections = openConnections(async () => {
    if (isGone) throw new Error('gone');
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  });
  const sent = Array.from({ length: 100 }, () =>
    connections.send('POST / HTTP/1.1\r\n\r\n', Buffer.alloc(0)),
  );
  const settled = Promise.allSettled(sent);
  await expect.poll(() => accepted.length).toBe(32);
  isGone = true;
  for (const socket of accepted) socket.destroy();
  const reasons = (await settled).map((result) =>
    result.status === 'rejected' ? String(result.reason) : '',
  );
  expect(reasons.filter((reason) => reason === 'Error: dynoxide closed the connection')).toHaveLength(32);
  expect(reasons.filter((reason) => reason === 'Error: gone')).toHaveLength(68);
});
