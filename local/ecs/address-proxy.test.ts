/** An address in front of a real unix socket. */
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { serverAddress } from '#shared/domain/sandbox.ts';
import { chooseSandboxPort, joinSockets, openAddressProxy } from './address-proxy.ts';

const port = await chooseSandboxPort();
const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

type Serve = (socket: Socket) => void;
const greet: Serve = (socket) => void socket.end('hello');

const open = async (unreachableMs: number, serve = greet) => {
  const socketPath = join(await mkdtemp(join(tmpdir(), 'sallyport-proxy-')), 's');
  const server = createServer({ allowHalfOpen: true }, serve);
  server.listen(socketPath);
  await once(server, 'listening');
  opened.push(async () => server.close());
  const proxy = await openAddressProxy(socketPath, { port, unreachableMs, log: () => undefined });
  opened.push(proxy.close);
  return proxy;
};

/** The text that a client reads, or the code of its refusal. */
const ask = async (address: string): Promise<string> => {
  const socket = connect(port, address);
  try {
    const [bytes] = await once(socket, 'data');
    return String(bytes);
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  } finally {
    socket.destroy();
  }
};

test('bytes of the socket are proxied to an address of its own', async () => {
  const [one, other] = [await open(0), await open(0)];
  expect(one.address).toMatch(/^127\.77\.\d+\.\d+$/);
  expect(one.address).not.toBe(other.address);
  expect(await ask(one.address)).toBe('hello');
});

test('a connection that comes before the server listens is passed on when it does', async () => {
  const socketPath = join(await mkdtemp(join(tmpdir(), 'sallyport-proxy-')), 's');
  const proxy = await openAddressProxy(socketPath, { port, unreachableMs: 0, log: () => undefined });
  opened.push(proxy.close);
  const client = connect(port, proxy.address);
  await once(client, 'connect');
  const server = createServer({ allowHalfOpen: true }, greet).listen(socketPath);
  opened.push(async () => server.close());
  expect(await text(client)).toBe('hello');
});

test('a connection to a server that has ended is broken off', async () => {
  const socketPath = join(await mkdtemp(join(tmpdir(), 'sallyport-proxy-')), 's');
  // Nothing listens at a file that is there.
  await writeFile(socketPath, '');
  const proxy = await openAddressProxy(socketPath, { port, unreachableMs: 0, log: () => undefined });
  opened.push(proxy.close);
  expect(await text(connect(port, proxy.address))).toBe('');
});

test('an address refuses connections for as long as it is unreachable', async () => {
  const { address } = await open(1500);
  expect(await ask(address)).toBe('ECONNREFUSED');
  await vi.waitFor(async () => expect(await ask(address)).toBe('hello'), { timeout: 50_000 });
});

test('an address that was closed while unreachable stays closed', async () => {
  const proxy = await open(50);
  await proxy.close();
  await setTimeout(100);
  expect(await ask(proxy.address)).toBe('ECONNREFUSED');
});

test('a caller that has closed its sending side still gets the answer', async () => {
  const { address } = await open(0, (socket) => void socket.pipe(socket));
  const caller = connect({ port, host: address, allowHalfOpen: true });
  caller.end('asked');
  expect(await text(caller)).toBe('asked');
});

test('a caller that disconnects is closed for the server, too', async () => {
  const { promise: served, resolve } = Promise.withResolvers<Socket>();
  const { address } = await open(0, resolve);
  const caller = connect(port, address);
  caller.write('asked');
  const server = await served;
  const ended = once(server.resume(), 'end');
  caller.resetAndDestroy();
  await ended;
  server.destroy();
});

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

test('bytes before the end reach a late reader', async () => {
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
])('a side that %s closes the other', async (_how, cause) => {
  const [client, server] = [slowSocket(), slowSocket()];
  joinSockets(client.socket, server.socket);
  client.socket.push('half of');
  client.socket.destroy(cause);
  await once(server.socket, 'close');
  expect(server.socket.readableEnded).toBe(false);
});

test('the port of a run is not that of AWS, which programs of a machine often have', () => {
  expect(port).toBeGreaterThan(1023);
  expect(serverAddress('127.77.0.1')).not.toBe(serverAddress('127.77.0.1', port));
});
