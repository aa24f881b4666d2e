/**
 * Programs and hosts that break their connections at every moment, through each endpoint that programs reach: the proxy, the models, the
 * socket. None of them ends the server of the sandbox, and no stream of the relay stays open for a program that has gone.
 */
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRelayPeer, type RelayStream } from '#shared/contracts/relay/peer.ts';
import { relayBatchBytesMax } from '#shared/domain/relay/limits.ts';
import { freePort } from '../ports-fixture.ts';
import { startTestSandbox, type TestSandbox, waitFor } from '../sandbox-fixture.ts';

let sandbox: TestSandbox;
let folder: string;
let ports: { readonly proxy: number; readonly models: number };

const socketPath = () => join(folder, 'relay.sock');

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-cut-'));
  await chmod(folder, 0o755);
  ports = { proxy: await freePort(), models: await freePort() };
  sandbox = await startTestSandbox({
    SANDBOX_PROXY_PORT: String(ports.proxy),
    SANDBOX_MODELS_PORT: String(ports.models),
    SANDBOX_RELAY_SOCKET: socketPath(),
  });
  const body = JSON.stringify({ variables: {}, hasNetwork: true });
  await sandbox.ask('PUT', '/environment', { headers: json, body });
});
afterEach(async () => {
  const { status } = await sandbox.ask('GET', '/health');
  expect([status, sandbox.child.exitCode]).toEqual([200, null]);
  await sandbox.stop();
  await rm(folder, { recursive: true, force: true });
});

const json = { 'content-type': 'application/json' };

/** Of the other end of a stream, once it was opened. */
const hosts: Readonly<Record<string, (stream: RelayStream) => unknown>> = {
  refuses: (stream) => stream.reset(gone),
  'is silent': () => undefined,
  'accepts and resets at once': (stream) => {
    stream.accept();
    stream.reset(gone);
  },
  'accepts and ends at once': (stream) => {
    stream.accept();
    stream.end();
  },
  'says a little and resets': async (stream) => {
    stream.accept();
    await stream.write(said);
    stream.reset(gone);
  },
  'says much, and never ends': async (stream) => {
    stream.accept();
    await stream.write(said);
    while (await stream.write(new Uint8Array(60_000))) await delay(1);
  },
};
const gone = { status: 502, message: 'the host is gone' };
/** The beginning of an answer in the wire of the proxy. */
const said = new TextEncoder().encode('HTTP/1.1 200 OK\r\ncontent-length: 900000000\r\n\r\nhello');

/** Holds the relay until it is let go; each stream meets the host of that name. */
const openHolder = async (host: string) => {
  const holder = crypto.randomUUID();
  let queue: Uint8Array[] = [];
  let [received, sent, opened, isOver] = [0, 0, 0, false];
  const peer = createRelayPeer({
    send: (frame) => void queue.push(frame),
    onOpen: (_, stream) => {
      opened += 1;
      void Promise.resolve().then(() => hosts[host]?.(stream));
      return {
        onData: (bytes) => stream.take(bytes.length),
        onEnd: () => undefined,
        onReset: () => undefined,
      };
    },
  });
  const body = JSON.stringify({ holder, idleSeconds: 30 });
  expect((await sandbox.ask('POST', '/relay/hold', { headers: json, body })).status).toBe(204);
  const read = async (): Promise<void> => {
    while (!isOver) {
      const answer = await sandbox.open('GET', `/relay/upstream?holder=${holder}&after=${received}`);
      if (answer.statusCode !== 200) return;
      for await (const chunk of answer as AsyncIterable<Buffer>) {
        received += chunk.length;
        peer.receive(chunk);
      }
    }
  };
  const write = async (): Promise<void> => {
    while (!isOver) {
      const waiting = Buffer.concat(queue);
      queue = [];
      if (waiting.length === 0) await delay(1);
      for (let at = 0; at < waiting.length; at += relayBatchBytesMax) {
        const batch = waiting.subarray(at, at + relayBatchBytesMax);
        const path = `/relay/downstream?holder=${holder}&offset=${sent}&ack=${received}`;
        sent += batch.length;
        const { status } = await sandbox.ask('POST', path, { body: batch });
        if (status !== 200 && !isOver) throw new Error(`the sandbox took no bytes: ${status}`);
      }
    }
  };
  const done = Promise.all([read(), write()]);
  // A test that fails before it closes its holder is told of its own cause.
  done.catch(() => undefined);
  return {
    opened: () => opened,
    openStreams: peer.openStreams,
    close: async () => {
      isOver = true;
      await sandbox.ask('POST', `/relay/release?holder=${holder}`);
      await done;
    },
  };
};

const withBody = (head: string, body: string): string =>
  `${head}\r\ncontent-length: ${body.length}\r\ncontent-type: application/json\r\n\r\n${body}`;
const asked = JSON.stringify({ model: 'm', max_tokens: 9, messages: [], filler: 'x'.repeat(20_000) });

type Door = {
  /** That its program has gone is seen late: it may have closed one side alone, or is not read before a host has accepted. */
  readonly isSeenLate?: boolean;
  readonly to: () => { readonly port: number } | { readonly path: string };
  readonly says: string;
};
const doors: Readonly<Record<string, Door>> = {
  tunnel: {
    isSeenLate: true,
    to: () => ({ port: ports.proxy }),
    says: 'CONNECT a.org:99 HTTP/1.1\r\n\r\nhello',
  },
  get: { to: () => ({ port: ports.proxy }), says: 'GET http://a.org/ HTTP/1.1\r\nhost: a.org\r\n\r\n' },
  post: {
    isSeenLate: true,
    to: () => ({ port: ports.proxy }),
    says: withBody('POST http://a.org/ HTTP/1.1\r\nhost: a.org', asked),
  },
  upgrade: {
    to: () => ({ port: ports.proxy }),
    says: 'GET http://a.org/ HTTP/1.1\r\nhost: a.org\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
  },
  model: {
    to: () => ({ port: ports.models }),
    says: withBody('POST /anthropic/v1/messages HTTP/1.1\r\nhost: a.org', asked),
  },
  platform: {
    isSeenLate: true,
    to: () => ({ path: socketPath() }),
    says: '{"jsonrpc":"2.0","id":1,"method":"platform_tools"}\n{"jsonrpc":"2.0","id":2,"method":"platform_tools"}\n',
  },
};

const seen = Object.values(doors).filter(({ isSeenLate }) => isSeenLate !== true);

type End = (socket: Socket) => void;
const atOnce: readonly End[] = [
  (socket) => void (socket.remotePort === undefined ? socket.destroy() : socket.resetAndDestroy()),
  (socket) => void socket.destroy(),
];
/** That such a program has gone is seen when it is written to. */
const halfClosedFirst: End = (socket) => void socket.end(() => setTimeout(() => socket.destroy(), 20));
const shares = [0.4, 0.99, 1];

const dial = async ({ to }: Door): Promise<Socket> => {
  const socket = connect({ host: '127.0.0.1', ...to() });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
};
const closed = async (socket: Socket): Promise<void> => {
  if (!socket.closed) await heard(socket, 'close');
};
/** Not `once`: it fails with the connection. */
const heard = (socket: Socket, event: 'close' | 'data'): Promise<void> =>
  new Promise((resolve) => socket.once(event, () => resolve()));

/** Every program at once, each cut at its moment; resolves when the test has no connection left. */
const cutAll = async (through: readonly Door[], ends: readonly End[]): Promise<void> => {
  for (const door of through)
    await Promise.all(
      ends.flatMap((end) => [
        ...shares.map(async (share) => {
          const socket = await dial(door);
          const part = door.says.slice(0, Math.ceil(door.says.length * share));
          await new Promise((resolve) => socket.write(part, resolve));
          end(socket);
          await closed(socket);
        }),
        (async () => {
          const socket = await dial(door);
          socket.write(door.says);
          await Promise.race([heard(socket, 'data'), closed(socket), delay(50)]);
          end(socket);
          await closed(socket);
        })(),
      ]),
    );
};

test.each(Object.keys(hosts))('programs are cut while a host %s', async (host) => {
  const holder = await openHolder(host);
  if (host === 'is silent') await cutAll(seen, atOnce);
  else await cutAll(Object.values(doors), [...atOnce, halfClosedFirst]);
  await waitFor(async () => holder.openStreams() === 0);
  expect(holder.opened()).toBeGreaterThan(0);
  await holder.close();
});

test('a program learns of a host that accepts and resets at once', async () => {
  const holder = await openHolder('accepts and resets at once');
  for (const [name, door] of Object.entries(doors)) {
    const socket = await dial(door);
    socket.write(door.says);
    if (name === 'tunnel') await closed(socket.resume());
    else await Promise.race([heard(socket, 'data'), closed(socket)]);
    socket.destroy();
  }
  await holder.close();
});

test('programs that are cut while they wait for a holder leave no stream behind', async () => {
  await cutAll(seen, atOnce);
  const holder = await openHolder('is silent');
  const witness = await dial(doors['get'] as Door);
  witness.write(doors['get']?.says ?? '');
  await waitFor(async () => holder.opened() > 0);
  witness.destroy();
  await waitFor(async () => holder.openStreams() === 0);
  await holder.close();
});

test('a holder that breaks the rules, or goes, ends all connections, and nothing else', async () => {
  for (const host of ['is silent', 'says much, and never ends']) {
    const holder = await openHolder(host);
    const sockets = await Promise.all(Object.values(doors).map(dial));
    for (const [at, door] of Object.values(doors).entries()) sockets[at]?.write(door.says);
    await waitFor(async () => holder.openStreams() >= 5);
    await holder.close();
    for (const socket of sockets) socket.destroy();
  }
});

test('a program waits for a holder between two requests of a call, too (RL4)', async () => {
  const body = JSON.stringify({ variables: {} });
  await sandbox.ask('PUT', '/environment', { headers: json, body });
  const program = [
    'import socket',
    `s = socket.socket(socket.AF_UNIX); s.connect("${socketPath()}"); f = s.makefile("rw")`,
    'f.write(\'{"jsonrpc":"2.0","id":1,"method":"platform_tools"}\\n\'); f.flush(); print(f.readline())',
  ].join('\n');
  const start = { id: crypto.randomUUID(), command: 'python3', args: ['-c', program], waitMs: 40_000 };
  const ask = async (more: object) => {
    const answer = await sandbox.ask('POST', '/processes', {
      headers: json,
      body: JSON.stringify({ ...start, ...more }),
    });
    return JSON.parse(answer.body.toString()) as Record<string, unknown>;
  };
  expect(await ask({ relayAfterMs: 0 })).toMatchObject({ relayWanted: true });
  // The platform's next request takes its time.
  await delay(1000);
  const holder = await openHolder('refuses');
  expect(JSON.stringify(await ask({}))).toContain('the host is gone');
  await holder.close();
});

test('a program that asks and never reads is no longer heard, until it reads', async () => {
  const lines = 100_000;
  const socket = await dial(doors['platform'] as Door);
  socket.pause().write('x\n'.repeat(lines));
  for (let time = 0; time < 50; time += 1) await sandbox.ask('GET', '/health');
  let answers = 0;
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    answers += chunk.toString('latin1').split('\n').length - 1;
    if (answers === lines) break;
  }
  expect(answers).toBe(lines);
});
