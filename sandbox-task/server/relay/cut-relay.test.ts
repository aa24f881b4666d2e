/**
 * The relay between a real sandbox and the real holder, over a link that is cut again and again, by counts alone: a clone, the answer of
 * a model and calls of the platform end right or say why, and nothing is lost, doubled or left open (RL2, RL6).
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeTcpEgress } from '#shared/adapters/egress/tcp-egress.ts';
import type { RelayDeps } from '#shared/application/deps.ts';
import { holdRelay } from '#shared/application/relay/hold-relay.ts';
import type { SessionId, WorkspaceId } from '#shared/domain/ids.ts';
import { AppError } from '#shared/errors.ts';
import type { RelayWork } from '#shared/ports/invoker.ts';
import type { PlatformCalls } from '#shared/ports/platform-calls.ts';
import type { LinkRequest } from '#shared/ports/sandbox.ts';
import { makeOutside, serveOutside } from '../../../tests/e2e/egress-packages.ts';
import { freePort } from '../ports-fixture.ts';
import { startTestSandbox, type TestSandbox, waitFor } from '../sandbox-fixture.ts';

let outside: Server;
let folder: string;
let socketFolder: string;
let sandbox: TestSandbox;
let ports: { readonly proxy: number; readonly models: number };

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
const listening = async (server: Server): Promise<Server> => {
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return server;
};
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-outside-'));
  await makeOutside(folder);
  const repository = join(folder, 'repository.git');
  const work = join(folder, 'work');
  await writeFile(join(work, 'large'), randomBytes(2_000_000));
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', work, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      stdio: 'ignore',
    });
  git('add', '.');
  git('commit', '-m', 'large');
  git('push', repository, 'main');
  execFileSync('git', ['-C', repository, 'update-server-info']);
  outside = await listening(createServer(serveOutside(folder, { origin: () => '', seen: [] })));
});
afterAll(async () => {
  outside.close();
  await rm(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  socketFolder = await mkdtemp(join(tmpdir(), 'sallyport-relay-'));
  await chmod(socketFolder, 0o755);
  ports = { proxy: await freePort(), models: await freePort() };
  sandbox = await startTestSandbox({
    SANDBOX_PROXY_PORT: String(ports.proxy),
    SANDBOX_MODELS_PORT: String(ports.models),
    SANDBOX_RELAY_SOCKET: join(socketFolder, 'relay.sock'),
  });
  await sandbox.ask('PUT', '/environment', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ variables: {}, hasNetwork: true }),
  });
});
afterEach(async () => {
  await sandbox.stop();
  await rm(socketFolder, { recursive: true, force: true });
});

/** Bytes of one answer of the sandbox before it is cut; requests into it of which one passes as it should. */
type Cuts = { readonly outBytes: number; readonly inRequests: number };

/** The link to the sandbox, cut by counts. */
const openCutLink = ({ outBytes, inRequests }: Cuts) => {
  const counted = { cuts: 0, requests: 0, lost: 0 };
  let upstream: IncomingMessage | undefined;
  const cutUpstream = (): void => {
    if (upstream === undefined) return;
    counted.cuts += 1;
    upstream.destroy();
    upstream = undefined;
  };
  const carried = async function* (answer: IncomingMessage): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      const kept = chunk.subarray(0, outBytes - bytes);
      bytes += kept.length;
      yield new Uint8Array(kept);
      if (bytes >= outBytes) cutUpstream();
    }
  };
  const lose = (): never => {
    counted.lost += 1;
    throw new AppError('sandbox_unavailable', 'cut');
  };
  const ask = ({ method = 'GET', path, body, headers }: LinkRequest): Promise<IncomingMessage> => {
    const bytes = body == null ? {} : { body: Buffer.from(body as Uint8Array) };
    return sandbox.open(method, path, { headers: { ...headers }, ...bytes });
  };
  /** One of so many passes; one before it is lost on its way, and one after it has arrived. */
  const carryIn = async (request: LinkRequest): Promise<IncomingMessage> => {
    counted.requests += 1;
    const turn = counted.requests % inRequests;
    if (turn === 1) lose();
    const answer = await ask(request);
    if (turn !== 2) return answer;
    answer.resume();
    cutUpstream();
    return lose();
  };
  const fetch = async (_: unknown, request: LinkRequest): Promise<Response> => {
    const answer = await (request.path.startsWith('/relay/downstream') ? carryIn(request) : ask(request));
    const status = answer.statusCode ?? 500;
    if (request.path.startsWith('/relay/upstream') && status === 200) {
      upstream = answer;
      return new Response(ReadableStream.from(carried(answer)), { status });
    }
    const bytes = Buffer.concat((await answer.toArray()) as Buffer[]);
    return new Response(status === 204 ? null : bytes, { status });
  };
  return { fetch, counted };
};

const modelEvents = 400;
const modelPause = 4;

/** The answer of a provider, as many events, some of which come later. */
async function* modelAnswer(): AsyncGenerator<Uint8Array> {
  const event = (type: string, data: object) =>
    new TextEncoder().encode(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  yield event('message_start', { message: { usage: { input_tokens: 10, output_tokens: 1 } } });
  for (let index = 0; index < modelEvents; index += 1) {
    if (index % modelPause === 0) await setImmediate();
    yield event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: `<${index}>` } });
  }
  yield event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 400 } });
  yield event('message_stop', {});
}

type Platform = {
  /** The messages that took effect, by their ids. */
  readonly messages: Map<string, string>;
  /** Called for each message, before its answer. */
  readonly onMessage?: (count: number) => void;
};

const workspaceId = 'w' as WorkspaceId;
const generation = 1;
const work: RelayWork = { workspaceId, generation, sessionId: 's' as SessionId };

/** Holds the relay as the function does, and each time it hands over; resolves when nobody needs it any more. */
const openPlatform = (cuts: Cuts, { messages, onMessage }: Platform) => {
  const link = openCutLink(cuts);
  const tcp = makeTcpEgress({ allowedPrivateHosts: [`127.0.0.1:${portOf(outside)}`] });
  const network = { allow: ['repository.example.org'] };
  const live = { state: 'ready', generation, address: 'http://sandbox', flavor: 'micro', network };
  const call: PlatformCalls['call'] = async ({ params }) => {
    const { message, message_id: id } = params as { readonly message: string; readonly message_id: string };
    messages.set(id, message);
    onMessage?.(messages.size);
    await setImmediate();
    return { result: { message } };
  };
  const spent: unknown[] = [];
  const failures: unknown[] = [];
  const held: Promise<void>[] = [];
  const session = { id: 's', workspace: 'w', kind: 'agent', status: 'running', owner: 'o', project: 'p' };
  const ignore = (): void => undefined;
  let lateMs = 0;
  const deps = {
    workspaces: { get: async () => ({ id: 'w', project: 'p', sandbox: live, users: [] }) },
    projects: { get: async () => ({ network }) },
    sessions: { get: async () => ({ ...session, provider: 'demo', model: 'demo', costUsd: 0, lastSeq: 0 }) },
    trees: {
      begin: async () => true,
      reserve: async (_: unknown, { usd }: { readonly usd: number }) => ({ grantedUsd: usd }),
      read: async () => undefined,
      spend: async (_: unknown, of: unknown) => void spent.push(of),
    },
    rateLimiter: { take: async () => true },
    brokerWire: {
      send: async () =>
        new Response(ReadableStream.from(modelAnswer()), {
          headers: { 'content-type': 'text/event-stream' },
        }),
    },
    brokerSettings: { prices: {}, usdMax: 10, outputTokensMax: 8192 },
    egressCeiling: network,
    egress: { connect: ({ port }: { readonly port: number }) => tcp.connect({ host: '127.0.0.1', port }) },
    egressBytesMax: 100_000_000,
    egressUsage: { read: unbounded, add: unbounded },
    eventLog: { append: async () => [] },
    connections: { subscribers: async () => [] },
    platformCalls: { call },
    relayIdleSeconds: 1,
    link,
    relayStarter: { holdRelay: async (next: RelayWork) => hold(next) },
    telemetry: {
      info: ignore,
      warn: ignore,
      error: (text: string, of: unknown) => void failures.push(text, of),
    },
    world: { now: () => Date.now() + lateMs, uuid: () => crypto.randomUUID(), sleep: () => setImmediate() },
  } as unknown as RelayDeps;
  const hold = (next: RelayWork): void => {
    const deadlineAt = Date.now() + lateMs + quarterMs;
    held.push(holdRelay(deps, { ...next, deadlineAt }).catch((cause: unknown) => void failures.push(cause)));
  };
  hold(work);
  return {
    ...{ counted: link.counted, spent, failures },
    /** The deadline of the function that holds it is near. */
    bringDeadline: () => {
      lateMs += quarterMs - 20_000;
    },
    holders: () => held.length,
    done: async () => {
      for (let index = 0; index < held.length; index += 1) await held[index];
    },
  };
};

const unbounded = async () => ({ bytes: 0, left: Number.POSITIVE_INFINITY });
const quarterMs = 900_000;
const calls = 40;

/** Each prints one line that says how it ended. */
const programs = () => {
  const repository = `http://repository.example.org:${portOf(outside)}/repository.git`;
  const body = JSON.stringify({ model: 'claude-haiku-5-5', max_tokens: 1000, stream: true, messages: [] });
  const talk = [
    'import socket, json',
    `s = socket.socket(socket.AF_UNIX); s.connect("${join(socketFolder, 'relay.sock')}")`,
    'f = s.makefile("rw"); said = []',
    `for i in range(${calls}):`,
    '    m = {"jsonrpc": "2.0", "id": i, "method": "session_message", "params": {"message": str(i)}}',
    '    f.write(json.dumps(m) + chr(10)); f.flush(); said.append(json.loads(f.readline()))',
    `right = [a.get("result", {}).get("message") for a in said] == [str(i) for i in range(${calls})]`,
    'print("calls right" if right else said)',
  ].join('\n');
  return {
    clone: `git clone -q ${repository} cloned 2> clone.err && git -C cloned fsck --full > fsck 2>&1 && echo cloned || (echo clone failed; cat clone.err)`,
    model: `curl -sS --no-buffer -H 'content-type: application/json' -d '${body}' http://127.0.0.1:${ports.models}/anthropic/v1/messages`,
    calls: `python3 -c '${talk}'`,
  };
};

const runAll = async () => {
  const run = async (command: string): Promise<string> => {
    const { content } = await sandbox.callTool('execute_command', { command, timeout: 80 });
    return content[0]?.text ?? '';
  };
  const { clone, model, calls: talk } = programs();
  const [cloned, streamed, called] = await Promise.all([run(clone), run(model), run(talk)]);
  return { cloned, streamed, called };
};

const texts = (stream: string): readonly string[] => stream.match(/<\d+>/g) ?? [];
const wanted = Array.from({ length: modelEvents }, (_, index) => `<${index}>`);
const openConnections = () =>
  new Promise<number>((resolve, reject) =>
    outside.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );

test('all end right although every answer is cut and two of three requests are lost, before or after they arrived', async () => {
  const messages = new Map<string, string>();
  const platform = openPlatform({ outBytes: 150, inRequests: 3 }, { messages });
  const { cloned, streamed, called } = await runAll();
  expect(cloned.trim()).toBe('cloned');
  expect(texts(streamed)).toEqual(wanted);
  expect(streamed).toContain('message_stop');
  expect(called.trim()).toBe('calls right');
  expect([...messages.values()]).toEqual(Array.from({ length: calls }, (_, index) => String(index)));
  await platform.done();
  expect(platform.counted.cuts).toBeGreaterThan(20);
  expect(platform.counted.lost).toBeGreaterThan(20);
  expect([platform.holders(), platform.spent.length, platform.failures]).toEqual([1, 1, []]);
  await waitFor(async () => (await openConnections()) === 0);
});

test('all end right or say why when the relay is handed over in their middle, and no call is done twice', async () => {
  const messages = new Map<string, string>();
  const late = new Set([10, 20, 30]);
  const platform = openPlatform(
    { outBytes: 150, inRequests: 3 },
    {
      messages,
      onMessage: (count) => {
        if (late.delete(count)) platform.bringDeadline();
      },
    },
  );
  const { cloned, streamed, called } = await runAll();
  expect(called.trim()).toBe('calls right');
  expect([...messages.values()]).toEqual(Array.from({ length: calls }, (_, index) => String(index)));
  expect(cloned).toMatch(/^cloned|^clone failed\n\S/);
  expect(texts(streamed)).toEqual(wanted.slice(0, texts(streamed).length));
  expect(streamed).toMatch(/message_stop|the relay was handed over/);
  await platform.done();
  expect(platform.holders()).toBe(4);
  // A call that was handed over before it was whole was not made.
  expect(platform.spent.length).toBeLessThanOrEqual(1);
  expect(platform.failures).toEqual([]);
  await waitFor(async () => (await openConnections()) === 0);
});
