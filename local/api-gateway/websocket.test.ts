/** The WebSocket side of the gateway: real `ws` clients, the real management SDK client, small handlers. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ApiGatewayManagementApiClient,
  DeleteConnectionCommand,
  GetConnectionCommand,
  GoneException,
  LimitExceededException,
  PayloadTooLargeException,
  PostToConnectionCommand,
} from '@aws-sdk/client-apigatewaymanagementapi';
import { afterAll, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { start as startLambda } from '../lambda/start.ts';
import type { WebSocketLimits } from './connection.ts';
import { start } from './start.ts';

/** A busy machine may take as long as this; what is waited for comes at once elsewhere. */
const patience = { timeout: 50_000 };

const opened: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const stop of opened.splice(0).reverse()) await stop();
});

const fixtures = join(import.meta.dirname, 'fixtures');

type SeenEvent = {
  readonly body?: string;
  readonly requestContext: Readonly<Record<string, unknown>> & { readonly connectionId: string };
};

type Gateway = {
  readonly url: string;
  readonly folder: string;
  readonly client: ApiGatewayManagementApiClient;
  readonly seen: (eventType: string) => readonly SeenEvent[];
};

/** The gateway with the limits of AWS, shared by the tests; each sees only the events since it asked for it. */
let usual: Promise<Gateway> | undefined;

const open = async (limits?: Partial<WebSocketLimits>): Promise<Gateway> => {
  if (limits !== undefined) return await openNew(limits);
  usual ??= openNew({});
  const gateway = await usual;
  const before = new Set(['CONNECT', 'MESSAGE', 'DISCONNECT'].flatMap(gateway.seen).map(keyOf));
  return {
    ...gateway,
    seen: (eventType) => gateway.seen(eventType).filter((event) => !before.has(keyOf(event))),
  };
};

const keyOf = ({ requestContext }: SeenEvent): unknown => requestContext['requestId'];

const openNew = async (limits: Partial<WebSocketLimits>, socket = 'socket'): Promise<Gateway> => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-gateway-'));
  const file = join(folder, 'events');
  await writeFile(file, '');
  const lambda = await startLambda({ mode: { kind: 'shared' }, log: () => undefined });
  opened.push(lambda.stop);
  lambda.deploy(
    ['socket', 'authorizer'].map((name) => ({
      name: `sallyport-${name}`,
      entry: join(fixtures, name === 'socket' ? socket : name, 'handler.ts'),
      environment: { EVENTS_FILE: file },
      timeoutMs: 20_000,
      memoryMb: 128,
    })),
  );
  const gateway = await start({
    functions: lambda,
    restRoutes: [],
    webSocket: { authorizer: 'sallyport-authorizer', functionName: 'sallyport-socket' },
    webRoot: folder,
    limits: { webSocket: limits },
  });
  opened.push(gateway.stop);
  const client = new ApiGatewayManagementApiClient({
    endpoint: gateway.url,
    region: 'us-east-1',
    credentials: gateway.credentials,
    maxAttempts: 1,
  });
  const events = () =>
    readFileSync(file, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line): SeenEvent => JSON.parse(line));
  return {
    url: (await gateway.open(0)).replace('http', 'ws'),
    folder,
    client,
    seen: (eventType) => events().filter(({ requestContext }) => requestContext['eventType'] === eventType),
  };
};

type Client = {
  readonly socket: WebSocket;
  readonly frames: string[];
  readonly closed: Promise<{ code: number; reason: string }>;
};

const connect = async (url: string, protocols: string[] = []): Promise<Client> => {
  const socket = new WebSocket(url, protocols);
  const frames: string[] = [];
  socket.on('message', (data) => frames.push(String(data)));
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() })),
  );
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  return { socket, frames, closed };
};

/** The plain HTTP answer to a handshake that was refused. */
type Answered = {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
};

const refusal = (url: string): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    socket.on('error', () => undefined);
    socket.on('open', () => reject(new Error('it was let in')));
    socket.on('unexpected-response', async (_request, answer) => {
      let text = '';
      for await (const chunk of answer) text += chunk;
      resolve({
        status: answer.statusCode,
        headers: answer.headers,
        body: text === '' ? {} : JSON.parse(text),
      });
    });
  });

const idOf = (gateway: Gateway): string => gateway.seen('CONNECT').at(-1)?.requestContext.connectionId ?? '';

/** Clients of other tests leave when they like: only those of one connection count. */
const farewells = (gateway: Gateway, id: string): readonly SeenEvent[] =>
  gateway.seen('DISCONNECT').filter(({ requestContext }) => requestContext.connectionId === id);

test('A6: a message reaches $default with the context of the authorizer', async () => {
  const gateway = await open();
  const { socket } = await connect(`${gateway.url}/ws?a=1`);
  socket.send('{"action":"ping"}');
  await vi.waitFor(() => expect(gateway.seen('MESSAGE')).toHaveLength(1), patience);
  expect(gateway.seen('MESSAGE')[0]).toMatchObject({
    body: '{"action":"ping"}',
    isBase64Encoded: false,
    requestContext: {
      routeKey: '$default',
      eventType: 'MESSAGE',
      stage: 'ws',
      connectionId: idOf(gateway),
      identity: { sourceIp: '127.0.0.1' },
      authorizer: { principalId: 'tester', scope: 'admin', level: '7' },
    },
  });
  expect(gateway.seen('CONNECT')[0]).toMatchObject({ queryStringParameters: { a: '1' } });
});

test('A6: an explicit deny of the authorizer is 403', async () => {
  const gateway = await open();
  expect(await refusal(`${gateway.url}/ws?as=deny`)).toMatchObject({
    status: 403,
    body: { message: 'User is not authorized to access this resource with an explicit deny' },
  });
  expect(gateway.seen('CONNECT')).toEqual([]);
});

test('A6: an authorizer that throws Unauthorized is 401, one that fails otherwise 500', async () => {
  const { url } = await open();
  expect(await refusal(`${url}/ws?as=unauthorized`)).toMatchObject({
    status: 401,
    body: { message: 'Unauthorized' },
  });
  expect(await refusal(`${url}/ws?as=broken`)).toMatchObject({
    status: 500,
    body: { message: 'Internal server error' },
  });
});

test('A7: $connect refuses with its own status, and passes Retry-After of its headers', async () => {
  const { url } = await open();
  const { status, headers } = await refusal(`${url}/ws?status=429`);
  expect([status, headers['retry-after'], headers['x-other']]).toEqual([429, '1', undefined]);
});

test('A7: a path after the stage is forbidden', async () => {
  const { url } = await open();
  expect(await refusal(`${url}/ws/more`)).toMatchObject({ status: 403 });
});

test('A7: the subprotocol is the one that $connect names', async () => {
  const { url } = await open();
  const { socket } = await connect(`${url}/ws?protocol=sallyport.v1`, ['ticket.abc', 'sallyport.v1']);
  expect(socket.protocol).toBe('sallyport.v1');
});

test('A7: an offered subprotocol that $connect does not echo is not agreed on', async () => {
  const { url } = await open();
  await expect(connect(`${url}/ws`, ['sallyport.v1'])).rejects.toThrow('Server sent no subprotocol');
});

test('A1: a post before $connect has returned is 410, and one after it arrives', async () => {
  const gateway = await open();
  const gate = join(gateway.folder, `gate-${crypto.randomUUID()}`);
  const connecting = connect(`${gateway.url}/ws?hold=${encodeURIComponent(gate)}`);
  await vi.waitFor(() => expect(gateway.seen('CONNECT')).toHaveLength(1), patience);
  const post = () =>
    gateway.client.send(new PostToConnectionCommand({ ConnectionId: idOf(gateway), Data: 'hello' }));
  await expect(post()).rejects.toBeInstanceOf(GoneException);
  await writeFile(gate, '');
  const { frames } = await connecting;
  await post();
  await vi.waitFor(() => expect(frames).toEqual(['hello']), patience);
});

test('A1: an unknown connection is 410 for every operation', async () => {
  const { client } = await open();
  const ConnectionId = 'L0SM9cOFvHcCIhw=';
  await expect(client.send(new PostToConnectionCommand({ ConnectionId, Data: 'x' }))).rejects.toBeInstanceOf(
    GoneException,
  );
  await expect(client.send(new GetConnectionCommand({ ConnectionId }))).rejects.toBeInstanceOf(GoneException);
  await expect(client.send(new DeleteConnectionCommand({ ConnectionId }))).rejects.toBeInstanceOf(
    GoneException,
  );
});

test('A9: a connection can be inspected and closed by the server', async () => {
  const gateway = await open();
  const { closed } = await connect(`${gateway.url}/ws`);
  const ConnectionId = idOf(gateway);
  const found = await gateway.client.send(new GetConnectionCommand({ ConnectionId }));
  expect(found.ConnectedAt).toBeInstanceOf(Date);
  expect(found.Identity?.SourceIp).toBe('127.0.0.1');
  await gateway.client.send(new DeleteConnectionCommand({ ConnectionId }));
  expect((await closed).code).toBe(1000);
  await vi.waitFor(() => expect(farewells(gateway, ConnectionId)).toHaveLength(1), patience);
  await expect(gateway.client.send(new GetConnectionCommand({ ConnectionId }))).rejects.toBeInstanceOf(
    GoneException,
  );
});

test('A9: a post over 128 KB is refused', async () => {
  const gateway = await open();
  const { frames } = await connect(`${gateway.url}/ws`);
  const post = (bytes: number) =>
    gateway.client.send(
      new PostToConnectionCommand({ ConnectionId: idOf(gateway), Data: 'x'.repeat(bytes) }),
    );
  await post(131_072);
  await expect(post(131_073)).rejects.toBeInstanceOf(PayloadTooLargeException);
  await vi.waitFor(() => expect(frames.map((frame) => frame.length)).toEqual([131_072]), patience);
});

test('A9: posts to a client that does not read are refused once its buffer is full', async () => {
  const gateway = await open({ sendBufferBytesMax: 1000 });
  const { socket } = await connect(`${gateway.url}/ws`);
  socket.pause();
  const post = () =>
    gateway.client.send(
      new PostToConnectionCommand({ ConnectionId: idOf(gateway), Data: 'x'.repeat(131_072) }),
    );
  const postUntilRefused = async () => {
    for (let sent = 0; sent < 500; sent += 1) await post();
  };
  await expect(postUntilRefused()).rejects.toBeInstanceOf(LimitExceededException);
});

test('A5: a failing handler is reported as a frame, and the connection stays', async () => {
  const gateway = await open();
  const { socket, frames } = await connect(`${gateway.url}/ws`);
  socket.send('fail');
  await vi.waitFor(() => expect(frames).toHaveLength(1), patience);
  expect(JSON.parse(frames[0] ?? '')).toEqual({
    message: 'Internal server error',
    connectionId: idOf(gateway),
    requestId: expect.any(String),
  });
  expect(socket.readyState).toBe(WebSocket.OPEN);
});

test('A5: an integration that times out is reported as a frame', async () => {
  const gateway = await open({ integrationMsMax: 3000 });
  const { socket, frames } = await connect(`${gateway.url}/ws`);
  socket.send('sleep');
  await vi.waitFor(() => expect(frames).toHaveLength(1), patience);
  expect(JSON.parse(frames[0] ?? '')).toMatchObject({ message: 'Endpoint request timed out' });
});

test('A5: the time of an integration does not count a cold start, in which a busy machine is slower than AWS', async () => {
  const gateway = await openNew({ integrationMsMax: 3000 }, 'cold');
  const { socket } = await connect(`${gateway.url}/ws`);
  expect(socket.readyState).toBe(WebSocket.OPEN);
});

test('A2: a frame of 32 KB passes and one byte more closes with 1009', async () => {
  const gateway = await open();
  const { socket, closed } = await connect(`${gateway.url}/ws`);
  socket.send('x'.repeat(32_768));
  await vi.waitFor(() => expect(gateway.seen('MESSAGE')).toHaveLength(1), patience);
  socket.send('x'.repeat(32_769));
  expect((await closed).code).toBe(1009);
  expect(gateway.seen('MESSAGE')).toHaveLength(1);
});

test('A2: a message of 128 KB in small frames passes and one byte more closes with 1009', async () => {
  const gateway = await open();
  const { socket, closed } = await connect(`${gateway.url}/ws`);
  const sendInFrames = (last: string) => {
    for (let frame = 0; frame < 4; frame += 1)
      socket.send('x'.repeat(32_768), { fin: frame === 3 && last === '' });
    if (last !== '') socket.send(last, { fin: true });
  };
  sendInFrames('');
  await vi.waitFor(() => expect(gateway.seen('MESSAGE')[0]?.body).toHaveLength(131_072), patience);
  sendInFrames('y');
  expect((await closed).code).toBe(1009);
});

test('A4: a binary frame closes with 1003', async () => {
  const { url } = await open();
  const { socket, closed } = await connect(`${url}/ws`);
  socket.send(Buffer.from([1, 2, 3]));
  expect((await closed).code).toBe(1003);
});

test('A3: an idle connection is closed, and a busy one at the end of its lifetime', async () => {
  const { url } = await open({ idleMsMax: 300 });
  expect(await (await connect(`${url}/ws`)).closed).toEqual({ code: 1001, reason: 'Going away' });
  const { url: shortLived } = await open({ lifeMsMax: 300 });
  expect(await (await connect(`${shortLived}/ws`)).closed).toEqual({ code: 1001, reason: 'Going away' });
});

test('A8: messages of one connection run concurrently and may overtake each other', async () => {
  const gateway = await open();
  const { socket } = await connect(`${gateway.url}/ws`);
  socket.send('sleep');
  socket.send('after it');
  // The first is still asleep: the second did not wait for it.
  await vi.waitFor(
    () => expect(gateway.seen('MESSAGE').map(({ body }) => body)).toContain('after it'),
    patience,
  );
});

test('A10: $disconnect carries status and reason of the close', async () => {
  const gateway = await open();
  const { socket } = await connect(`${gateway.url}/ws`);
  socket.close(4000, 'enough');
  const farewell = await vi.waitUntil(() => farewells(gateway, idOf(gateway))[0], patience);
  expect(farewell.requestContext).toMatchObject({
    routeKey: '$disconnect',
    disconnectStatusCode: 4000,
    disconnectReason: 'enough',
    authorizer: { scope: 'admin' },
  });
});

test('A10: $disconnect reports a client that leaves while $connect runs', async () => {
  const gateway = await open();
  const gate = join(gateway.folder, `gate-${crypto.randomUUID()}`);
  const { hostname, port } = new URL(gateway.url);
  const raw = createConnection({ host: hostname, port: Number(port) });
  raw.write(
    `GET /ws?hold=${encodeURIComponent(gate)} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  await vi.waitFor(() => expect(gateway.seen('CONNECT')).toHaveLength(1), patience);
  raw.resetAndDestroy();
  await writeFile(gate, '');
  await vi.waitFor(() => expect(farewells(gateway, idOf(gateway))).toHaveLength(1), patience);
});

test('A10: $disconnect reports a client with a failed handshake, since $connect has accepted it', async () => {
  const gateway = await open();
  const { hostname, port } = new URL(gateway.url);
  const raw = createConnection({ host: hostname, port: Number(port) });
  const said = new Promise<string>((resolve) => raw.once('data', (bytes) => resolve(String(bytes))));
  raw.write('GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');
  expect(await said).toMatch(/^HTTP\/1.1 400 /);
  await vi.waitFor(() => expect(farewells(gateway, idOf(gateway))).toHaveLength(1), patience);
  raw.destroy();
});

/** A client that is refused, and resets the connection instead of closing it. */
const resetAfterRefusal = async (url: string): Promise<string> => {
  const { hostname, port, pathname } = new URL(url);
  const socket = createConnection({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.on('error', () => undefined);
  socket.write(
    `GET ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
  );
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.resetAndDestroy();
  return answer.toString().split('\r\n')[0] ?? '';
};

test.for(['/', '/elsewhere', '/api/sessions/s/ports/80/', '/ws'])(
  'a client that resets its refused upgrade of %s ends nothing else',
  async (path) => {
    const { url } = await open();
    const gone = vi.fn();
    process.on('uncaughtExceptionMonitor', gone);
    expect(await resetAfterRefusal(new URL(path, url).href)).toMatch(/^HTTP\/1.1 40/);
    const health = await fetch(new URL('/health', url.replace('ws:', 'http:')));
    expect(health.status).toBe(200);
    process.off('uncaughtExceptionMonitor', gone);
    expect(gone).not.toHaveBeenCalled();
  },
);
