/**
 * Connections to the sandbox's server that break at every moment, on each of its routes: in the head and in the body of a request, before
 * its answer, in its middle. None of them ends the server, and what they asked for can be asked again.
 */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { freePort, listenShown } from './ports-fixture.ts';
import { startTestSandbox, type TestSandbox, testBearer, waitFor } from './sandbox-fixture.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox({}, { port: await freePort(), hasSharedVolume: true });
  const large = Buffer.alloc(3_000_000, 'x');
  for (const path of ['large', 'folder/large', 'folder/small'])
    await sandbox.ask('PUT', `/files/${path}`, { body: large });
});
afterAll(() => sandbox.stop());
afterEach(async () => {
  expect((await sandbox.ask('GET', '/health')).status).toBe(200);
  expect(sandbox.child.exitCode).toBeNull();
});

type Ask = { readonly line: string; readonly headers?: string; readonly body?: string | Buffer };

const mcp = (name: string, input: object): Ask => ({
  line: 'POST /mcp',
  headers: 'content-type: application/json\r\naccept: application/json, text/event-stream\r\n',
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: input, _meta: { progressToken: 1 } },
  }),
});
const id = () => crypto.randomUUID();
const holder = id();

/** Each is made anew for each cut. */
const requests: Readonly<Record<string, () => Ask>> = {
  health: () => ({ line: 'GET /health' }),
  tool: () => mcp('execute_command', { command: 'seq 200000; sleep 0.1; echo end' }),
  code: () => mcp('execute_code', { language: 'python', code: 'print("x" * 300000)' }),
  upload: () => ({ line: 'PUT /files/new', body: Buffer.alloc(300_000) }),
  part: () => ({
    line: 'PUT /files/parted',
    headers: 'content-range: bytes 0-299999/600000\r\n',
    body: Buffer.alloc(300_000),
  }),
  download: () => ({ line: 'GET /files/large' }),
  archive: () => ({ line: 'GET /files/folder?archive=tar.gz' }),
  'archive in': () => ({ line: 'PUT /files/unpacked?archive=tar.gz', body: Buffer.alloc(300_000) }),
  tree: () => ({ line: 'GET /files?recursive=1' }),
  watch: () => ({ line: 'GET /watch' }),
  process: () => ({
    line: 'POST /processes',
    headers: 'content-type: application/json\r\n',
    body: JSON.stringify({ id: id(), command: 'seq 100000', waitMs: 2000 }),
  }),
  checkpoint: () => ({ line: `GET /checkpoint?id=${id()}` }),
  'shared checkpoint': () => ({ line: `GET /shared/checkpoint?id=${id()}` }),
  restore: () => ({ line: `POST /shared/restore?id=${id()}`, body: Buffer.alloc(300_000) }),
  apply: () => ({ line: `POST /apply?id=${id()}`, body: Buffer.alloc(300_000) }),
  hold: () => ({ line: 'POST /relay/hold', body: JSON.stringify({ holder, idleSeconds: 30 }) }),
  upstream: () => ({ line: `GET /relay/upstream?holder=${holder}&after=0` }),
  downstream: () => ({
    line: `POST /relay/downstream?holder=${holder}&offset=0&ack=0`,
    body: Buffer.alloc(300_000),
  }),
  environment: () => ({
    line: 'PUT /environment',
    body: JSON.stringify({ variables: { A: 'x'.repeat(9000) } }),
  }),
  agent: () => ({ line: `GET /agent/turns/${id()}/events?after=0&wait=1000` }),
  logs: () => ({ line: 'GET /logs' }),
  port: () => ({ line: `POST /ports/${shownPort}/x`, body: Buffer.alloc(300_000) }),
  'no route': () => ({ line: 'POST /nothing', body: Buffer.alloc(300_000) }),
};

let shownPort: number;
const shown = createServer((socket: Socket) => {
  socket.on('error', () => undefined).resume();
  socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 900000\r\n\r\n${'x'.repeat(400_000)}`);
  setTimeout(() => socket.resetAndDestroy(), 50);
});
beforeAll(async () => {
  shownPort = await listenShown(shown);
});
afterAll(() => void shown.close());

const bytesOf = ({ line, headers = '', body }: Ask): Buffer => {
  const length = body === undefined ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`;
  const head = `${line} HTTP/1.1\r\nhost: s\r\nauthorization: Bearer ${testBearer}\r\n${headers}${length}\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(body ?? '')]);
};

const ends: Readonly<Record<string, (socket: Socket) => void>> = {
  'is reset': (socket) => void socket.resetAndDestroy(),
  'is closed': (socket) => void socket.destroy(),
  'is ended, and read no more': (socket) =>
    void socket.pause().end(() => setTimeout(() => socket.destroy(), 20)),
};
const closed = async (socket: Socket): Promise<void> => {
  if (!socket.closed) await once(socket, 'close');
};

/** Of the request: in its head, at its end, in its body, whole. */
const shares = [0.001, 0.3, 0.999, 1];

test.each(Object.keys(requests))('%s: cut while it is sent', async (name) => {
  for (const end of Object.values(ends))
    for (const share of shares) {
      const bytes = bytesOf(requests[name]?.() ?? { line: '' });
      const socket = await sandbox.dial();
      await new Promise((resolve) =>
        socket.write(bytes.subarray(0, Math.ceil(bytes.length * share)), resolve),
      );
      end(socket);
      await closed(socket);
    }
});

test.each(Object.keys(requests))('%s: cut while it is answered', async (name) => {
  for (const end of Object.values(ends)) {
    const socket = await sandbox.dial();
    socket.write(bytesOf(requests[name]?.() ?? { line: '' }));
    await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    end(socket);
    await closed(socket);
  }
});

test('what was cut can be asked again', async () => {
  expect((await sandbox.ask('PUT', '/files/new', { body: 'whole' })).status).toBeLessThan(300);
  expect((await sandbox.ask('GET', '/files/large')).body.length).toBe(3_000_000);
  expect((await sandbox.ask('GET', '/files/folder?archive=tar.gz')).body.length).toBeGreaterThan(1000);
  expect((await sandbox.ask('GET', `/checkpoint?id=${id()}`)).status).toBe(200);
  const { content } = await sandbox.callTool('execute_command', { command: 'echo lives' });
  expect(content[0]?.text).toContain('lives');
});

test('an upgrade that is cut at any moment ends alone', async () => {
  const head = `GET /ports/${shownPort}/live HTTP/1.1\r\nhost: s\r\nauthorization: Bearer ${testBearer}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`;
  for (const end of Object.values(ends))
    for (const share of [0.5, 1]) {
      const socket = await sandbox.dial();
      await new Promise((resolve) => socket.write(head.slice(0, head.length * share), resolve));
      end(socket);
      await closed(socket);
    }
  await waitFor(async () => (await sandbox.ask('GET', '/health')).status === 200);
});
