/** Requests into a sandbox that does not go on. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { headersOf, NotConnected, openRequest, readJson } from './request-to-sandbox.ts';

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

/** Longer than a connection may take. */
const pauseMs = 3100;

const openSandbox = async (answer: RequestListener) => {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  const target = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return { target, method: 'POST', path: '/', headers: {}, silenceMsMax: 50 };
};

test('a sandbox that never answers times out', async () => {
  const request = await openSandbox(() => undefined);
  await expect(openRequest(request)).rejects.toThrow('the sandbox stopped responding');
});

test('a sandbox that is not there got no byte; one that broke off may have', async () => {
  const { target, ...request } = await openSandbox((incoming) => void incoming.socket.destroy());
  const broken = await openRequest({ target, ...request }).catch((error: unknown) => error);
  expect(broken).not.toBeInstanceOf(NotConnected);
  for (const close of opened.splice(0)) await close();
  await expect(openRequest({ target, ...request })).rejects.toBeInstanceOf(NotConnected);
});

test('a function that was paused while it connected takes the connection that was made meanwhile', async () => {
  const answering = openRequest({
    ...(await openSandbox((_request, response) => void response.end('here'))),
    silenceMsMax: 60_000,
  });
  // Connecting begins in the next phase of the event loop, which then stands still for longer than it may take.
  await new Promise(setImmediate);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
  expect(await text(await answering)).toBe('here');
});

test('a sandbox that stops in the middle of its answer aborts it', async () => {
  const request = await openSandbox((_request, response) => void response.write('half'));
  await expect(text(await openRequest(request))).rejects.toThrow('aborted');
});

test('a sandbox that stops reading is abandoned, and the source of the body is closed', async () => {
  const request = await openSandbox((incoming) => void incoming.pause());
  const closed = Promise.withResolvers<string>();
  async function* body() {
    try {
      for (;;) yield Buffer.alloc(1_000_000);
    } finally {
      closed.resolve('closed');
    }
  }
  await expect(openRequest({ ...request, body: body() })).rejects.toThrow('the sandbox stopped responding');
  expect(await closed.promise).toBe('closed');
});

test('an answer that arrives before the body was read is returned', async () => {
  const request = await openSandbox((_request, response) => void response.writeHead(409).end());
  async function* body() {
    for (;;) yield Buffer.alloc(1_000_000);
  }
  const response = await openRequest({ ...request, body: body() });
  expect(response.statusCode).toBe(409);
  response.destroy();
});

test('JSON is read up to its limit', async () => {
  const request = await openSandbox((_request, response) => void response.end('{"a":1}'));
  expect(await readJson(await openRequest(request), 7)).toEqual({ a: 1 });
  await expect(readJson(await openRequest(request), 6)).rejects.toThrow('more than 6 bytes');
});

test('a request of the link carries the bearer and the correlation id', () => {
  expect(headersOf({ bearer: 'b' })).toEqual({ authorization: 'Bearer b' });
  expect(headersOf({ bearer: 'b', correlationId: 'c' })).toEqual({
    authorization: 'Bearer b',
    'x-correlation-id': 'c',
  });
});
