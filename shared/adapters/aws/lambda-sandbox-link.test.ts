/** The link as its caller sees it: the real Lambda client against a server that streams what a test says. */
import { EventEmitter, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { afterEach, expect, test } from 'vitest';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import { UnsentError } from '#shared/errors.ts';
import { encodeEvent, eventStreamType } from '../../../local/lambda/start.ts';
import { makeSandboxLink } from './lambda-sandbox-link.ts';

const sandbox = {
  workspaceId: '6f1d2c3b-0000-4000-8000-000000000001' as WorkspaceId,
  generation: 7,
  address: 'http://10.42.0.9:8080',
  flavor: 'micro',
} as const;

const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0)) close();
});

const chunk = (bytes: Uint8Array | string) =>
  encodeEvent('PayloadChunk', 'application/octet-stream', Buffer.from(bytes));
const complete = (result: object = {}) =>
  encodeEvent('InvokeComplete', 'application/json', Buffer.from(JSON.stringify(result)));
const prelude = (status: number, headers: object = {}) =>
  `${JSON.stringify({ statusCode: status, headers })}${'\0'.repeat(8)}`;

type Script = (response: ServerResponse) => void | Promise<void>;

const openLink = async (script: Script, maxAttempts = 1) => {
  const asked: { readonly path: string | undefined; readonly payload: unknown }[] = [];
  const sockets = new Set<unknown>();
  const left = new EventEmitter();
  const server = createServer(async (request, response) => {
    sockets.add(request.socket);
    asked.push({ path: request.url, payload: JSON.parse(await text(request)) });
    response.once('close', () => left.emit('left', response.writableFinished));
    if (asked.length === 1 && maxAttempts > 1) return void response.destroy();
    response.writeHead(200, { 'content-type': eventStreamType });
    await script(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = new LambdaClient({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts,
  });
  opened.push(
    () => client.destroy(),
    () => server.closeAllConnections(),
    () => server.close(),
  );
  const link = makeSandboxLink({
    client,
    functionName: 'sallyport-sandbox-link',
    bearer: (workspaceId, generation) => `bearer-of-${workspaceId.slice(-1)}-${generation}`,
    correlation: { id: () => 'c-1' },
  });
  return { link, asked, sockets, left };
};

const get = { method: 'GET', path: '/files/a.txt' };

test('a request reaches the function with the bearer of its generation, and the answer is a response', async () => {
  const { link, asked } = await openLink((response) => {
    response.write(chunk(prelude(201, { 'content-type': 'text/plain' })));
    response.write(chunk('hello '));
    response.write(chunk('world'));
    response.end(complete());
  });
  const response = await link.fetch(sandbox, {
    method: 'POST',
    path: '/mcp?x=1',
    headers: { accept: 'text/plain' },
    body: '{}',
  });
  expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
    201,
    'text/plain',
    'hello world',
  ]);
  expect(asked).toEqual([
    {
      path: '/2021-11-15/functions/sallyport-sandbox-link/response-streaming-invocations',
      payload: {
        kind: 'fetch',
        address: 'http://10.42.0.9:8080',
        method: 'POST',
        path: '/mcp?x=1',
        headers: { accept: 'text/plain', authorization: 'Bearer bearer-of-1-7' },
        body: '{}',
        correlationId: 'c-1',
      },
    },
  ]);
});

test('bytes are sent as base64, and only those of the view', async () => {
  const { link, asked } = await openLink((response) => {
    response.write(chunk(prelude(204)));
    response.end(complete());
  });
  const body = Uint8Array.of(1, 0, 255, 128, 2).subarray(1, 4);
  await link.fetch(sandbox, { method: 'PUT', path: '/files/a', body });
  expect(asked[0]?.payload).toMatchObject({ kind: 'fetch', body: 'AP+A', isBase64: true });
});

test('the metadata may be split anywhere, and a body that starts with NUL bytes stays whole', async () => {
  const whole = Buffer.from(`${prelude(200)}\0\0\0body`);
  const { link } = await openLink((response) => {
    for (const byte of whole) response.write(chunk(Uint8Array.of(byte)));
    response.end(complete());
  });
  const response = await link.fetch(sandbox, get);
  expect(await response.text()).toBe('\0\0\0body');
});

test('the body is read while the function still writes', async () => {
  const heard = new EventEmitter();
  const { link } = await openLink(async (response) => {
    response.write(chunk(`${prelude(200)}first`));
    await once(heard, 'first');
    response.write(chunk('second'));
    response.end(complete());
  });
  const { body } = await link.fetch(sandbox, get);
  const parts: string[] = [];
  for await (const part of body ?? []) {
    parts.push(Buffer.from(part).toString());
    heard.emit(parts.at(-1) ?? '');
  }
  expect(parts).toEqual(['first', 'second']);
});

test('an answer without a body is valid', async () => {
  const { link } = await openLink((response) => {
    response.write(chunk(prelude(204)));
    response.end(complete());
  });
  const response = await link.fetch(sandbox, get);
  expect([response.status, response.body]).toEqual([204, null]);
});

test('a connection whose answer was read to its end is reused', async () => {
  const { link, sockets } = await openLink((response) => {
    response.write(chunk(`${prelude(200)}x`));
    response.write(complete());
    response.end();
  });
  for (let call = 0; call < 3; call += 1) await (await link.fetch(sandbox, get)).text();
  expect(sockets.size).toBe(1);
});

test.each<[string, Script]>([
  ['fails', (response) => void response.end(complete({ ErrorCode: 'Unhandled' }))],
  ['says half of its metadata', (response) => void response.end(Buffer.concat([chunk('{"sta'), complete()]))],
  ['says nothing', (response) => void response.end()],
  ['breaks off', (response) => void response.destroy()],
  ['sends metadata without end', (response) => void response.write(chunk('x'.repeat(70_000)))],
  ['sends metadata that is no JSON', (response) => void response.write(chunk(`<html>${'\0'.repeat(8)}`))],
  [
    'refuses the request itself',
    (response) => void response.end(chunk(`${prelude(503, { 'x-sallyport-link': 'refused' })}{}`)),
  ],
])('a function that %s is a sandbox that cannot be reached', async (_title, script) => {
  const { link } = await openLink(script);
  await expect(link.fetch(sandbox, get)).rejects.toMatchObject({
    name: 'AppError',
    code: 'sandbox_unavailable',
    message: 'the sandbox could not be reached',
  });
});

test('a request of which the link sent no byte is known to be so, unless an earlier attempt may have sent one', async () => {
  const unsent: Script = (response) =>
    void response.end(
      Buffer.concat([chunk(`${prelude(503, { 'x-sallyport-link': 'unsent' })}{}`), complete()]),
    );
  const { link } = await openLink(unsent);
  await expect(link.fetch(sandbox, get)).rejects.toBeInstanceOf(UnsentError);
  const again = await openLink(unsent, 2);
  const error = await again.link.fetch(sandbox, get).catch((cause: unknown) => cause);
  expect(error).toMatchObject({ code: 'sandbox_unavailable' });
  expect(error).not.toBeInstanceOf(UnsentError);
});

test.each<[string, Script, RegExp]>([
  [
    'fails in the middle',
    (response) => void response.end(complete({ ErrorCode: 'Unhandled' })),
    /^the connection to the sandbox broke/,
  ],
  [
    'ends without saying that it is complete',
    (response) => void response.end(),
    /^the connection to the sandbox broke/,
  ],
  ['breaks off in the middle', (response) => void response.destroy(), /./],
])('the body of a function that %s breaks', async (_title, finish, message) => {
  const heard = new EventEmitter();
  const { link } = await openLink(async (response) => {
    response.write(chunk(`${prelude(200)}half`));
    await once(heard, 'half');
    await finish(response);
  });
  const { body } = await link.fetch(sandbox, get);
  const parts: string[] = [];
  const reading = async () => {
    for await (const part of body ?? []) {
      parts.push(Buffer.from(part).toString());
      heard.emit('half');
    }
  };
  await expect(reading()).rejects.toThrow(message);
  expect(parts).toEqual(['half']);
});

test('an aborted request aborts the invocation, before and after its answer began', async () => {
  const arrived = new EventEmitter();
  const early = await openLink(() => void arrived.emit('call'));
  const abort = new AbortController();
  const call = once(arrived, 'call');
  const waiting = early.link.fetch(sandbox, { ...get, signal: abort.signal });
  await call;
  const leaving = once(early.left, 'left');
  abort.abort(new Error('cancelled'));
  await expect(waiting).rejects.toThrow('cancelled');
  expect(await leaving).toEqual([false]);

  const late = await openLink((response) => void response.write(chunk(`${prelude(200)}x`)));
  const lateAbort = new AbortController();
  const response = await late.link.fetch(sandbox, { ...get, signal: lateAbort.signal });
  const gone = once(late.left, 'left');
  lateAbort.abort();
  await expect(response.text()).rejects.toThrow();
  expect(await gone).toEqual([false]);
});

test('an unread body aborts the invocation', async () => {
  const { link, left } = await openLink((response) => void response.write(chunk(`${prelude(200)}x`)));
  const response = await link.fetch(sandbox, get);
  const gone = once(left, 'left');
  await response.body?.cancel();
  expect(await gone).toEqual([false]);
});

test('a request over 6 MB is refused before it is sent', async () => {
  const { link, asked } = await openLink(() => undefined);
  const body = 'x'.repeat(6_300_000);
  await expect(link.fetch(sandbox, { method: 'PUT', path: '/files/a', body })).rejects.toMatchObject({
    code: 'payload_too_large',
  });
  expect(asked).toEqual([]);
});
