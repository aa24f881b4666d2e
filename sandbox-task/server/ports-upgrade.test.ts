/** Upgraded connections to ports of user code, and their ends: none of them, however rude, ends the sandbox. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { listenShown } from './ports-fixture.ts';
import { startTestSandbox, type TestSandbox } from './sandbox-fixture.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.stop());

const handshake = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n';

/** A server of user code on the first free port that may be shown; it accepts an upgrade, and then does its own. */
const upgrading = async (then: (socket: Socket) => void): Promise<number> => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(handshake, () => then(socket)));
  });
  onTestFinished(() => void server.close());
  return listenShown(server);
};

const upgraded = (port: number): Promise<Duplex> => sandbox.upgrade(`/ports/${port}/live`);

const livesOn = async (): Promise<void> => {
  expect((await sandbox.ask('GET', '/health')).status).toBe(200);
  expect(sandbox.child.exitCode).toBeNull();
};

test('bytes go both ways', async () => {
  const port = await upgrading((socket) => socket.pipe(socket));
  const socket = await upgraded(port);
  socket.write('hello');
  expect(String((await once(socket, 'data'))[0])).toBe('hello');
  socket.destroy();
});

test('a server that resets the connection ends it for the client, and nothing else', async () => {
  const port = await upgrading((socket) => void setImmediate(() => socket.resetAndDestroy()));
  for (let time = 0; time < 10; time += 1) {
    const socket = (await upgraded(port)).resume();
    if (!socket.closed) await once(socket, 'close');
  }
  await livesOn();
});

test('a client that is gone while the server of user code writes ends the connection, and nothing else', async () => {
  const ends: Promise<unknown>[] = [];
  const port = await upgrading((socket) => {
    const writing = setInterval(() => socket.write(Buffer.alloc(100_000)), 1);
    ends.push(new Promise((resolve) => socket.once('close', resolve)).finally(() => clearInterval(writing)));
  });
  for (let time = 0; time < 10; time += 1) {
    const socket = await upgraded(port);
    await once(socket, 'data');
    socket.destroy();
    await ends[time];
  }
  await livesOn();
});
