import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { type AddressInfo, createServer, Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { tunnelHeaders } from '#shared/contracts/preview-upgrade.ts';
import type { FunctionHost } from '../lambda/function-host.ts';
import { upgradeToPort } from './port-upgrade.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval'] }));
afterEach(() => void vi.useRealTimers());

const openClient = () => new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });

const upgrade = (socket: Duplex, address: string, onAsked: () => Promise<void> | void = () => undefined) => {
  const headers = { [tunnelHeaders.address]: address, [tunnelHeaders.path]: '/' };
  const head = JSON.stringify({ statusCode: 200, headers });
  const invokeStreamed: FunctionHost['invokeStreamed'] = async (_name, _payload, sink) => {
    await onAsked();
    await sink.chunk(Buffer.concat([Buffer.from(head), Buffer.alloc(8)]));
    return { kind: 'finished' };
  };
  const request = Object.assign(new IncomingMessage(new Socket()), { url: '/api/sessions/s/ports/8000/' });
  return upgradeToPort({
    ...{ request, socket, head: Buffer.alloc(0), checkMs: 1000 },
    functions: { invokeStreamed } as FunctionHost,
    route: { resource: '/api/{proxy+}', functionName: 'api', pathParameters: null },
  });
};

test('a client that left while its sandbox started is not asked about again', async () => {
  const socket = openClient();
  let asked = 0;
  await upgrade(socket, 'http://127.0.0.1:1', async () => {
    asked += 1;
    socket.destroy();
    await new Promise((resolve) => setImmediate(resolve));
  });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toBe(1);
});

test('a client that leaves takes with it the request that its server has not answered', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const socket = openClient();
    const reached = once(server, 'connection');
    await upgrade(socket, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const [inner] = (await reached) as [Socket];
    const closed = once(inner.resume(), 'close');
    socket.destroy();
    await closed;
  } finally {
    server.close();
  }
});
