/** Listing and calling real servers on loopback, of every age of the protocol. */
import { once } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import { AppError } from '#shared/errors.ts';
import type { RemoteCall, RemoteTarget } from '#shared/ports/mcp-servers.ts';
import type { ToolProgress } from '#shared/ports/sandbox.ts';
import {
  eventServer,
  type Loopback,
  listen,
  modernServer,
  said,
  sessionServer,
  type Tools,
} from './fixtures/loopback-servers.ts';
import { makeRemoteMcp } from './remote-mcp.ts';

const started: Loopback[] = [];
const keep = async <T extends Loopback>(loopback: Promise<T>): Promise<T> => {
  started.push(await loopback);
  return loopback;
};
afterEach(async () => {
  await Promise.all(started.splice(0).map(({ stop }) => stop()));
});

const remote = makeRemoteMcp({ allowedPrivateHosts: ['127.0.0.1'] });
const ages = {
  modern: { serve: modernServer, transport: 'http' },
  'older, with sessions': { serve: sessionServer, transport: 'http' },
  'oldest, with events': { serve: eventServer, transport: 'sse' },
} as const;
type Age = keyof typeof ages;
const names = Object.keys(ages) as Age[];

const serve = async (age: Age, tools?: Tools) => {
  const loopback = await keep<Loopback>(ages[age].serve(tools));
  const target: RemoteTarget = {
    name: 'notes',
    transport: ages[age].transport,
    url: loopback.url,
    headers: {},
    timeoutMs: 5000,
  };
  return { ...loopback, target };
};
const callOf = (target: RemoteTarget, more: Partial<RemoteCall> = {}): RemoteCall => ({
  target,
  tool: 'echo',
  args: { word: 'hi' },
  onProgress: () => undefined,
  ...more,
});
const closed = (server: Pick<Loopback, 'openCount'>) =>
  vi.waitFor(() => expect(server.openCount()).toBe(0), { timeout: 50_000 });

test.each(names)('the tools of a server are listed: %s', async (age) => {
  const server = await serve(age);
  expect(await remote.listTools(server.target)).toEqual([
    { name: 'echo', description: 'says it again', inputSchema: { type: 'object' } },
  ]);
  await closed(server);
});

test.each(names)('a tool is called and answers: %s', async (age) => {
  const server = await serve(age);
  expect(await remote.call(callOf(server.target))).toEqual({
    status: 'finished',
    content: [{ type: 'text', text: '{"word":"hi"}' }],
  });
  await closed(server);
});

test.each(names)('a tool that reports a failure has failed with its message: %s', async (age) => {
  const server = await serve(age, { run: () => ({ ...said('no such note'), isError: true }) });
  expect(await remote.call(callOf(server.target))).toEqual({
    status: 'failed',
    code: 'tool_failed',
    message: 'no such note',
  });
});

test.each(names)('a JSON-RPC error is a failure with its message: %s', async (age) => {
  const server = await serve(age, {
    run: () => {
      throw Object.assign(new Error('the index is broken'), { code: -32_603 });
    },
  });
  expect(await remote.call(callOf(server.target))).toMatchObject({
    status: 'failed',
    code: 'tool_failed',
    message: expect.stringMatching(/^MCP server 'notes': it answered: .*the index is broken$/),
  });
});

test.each(names)('progress arrives while the tool runs, and keeps the call alive: %s', async (age) => {
  const server = await serve(age, {
    run: async (_params, { progress }) => {
      for (const word of ['öne', 'two', 'three']) {
        await progress(word);
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
      return said('done');
    },
  });
  const seen: ToolProgress[] = [];
  const target = { ...server.target, timeoutMs: 500 };
  const outcome = await remote.call(callOf(target, { onProgress: (progress) => seen.push(progress) }));
  expect(outcome).toEqual({ status: 'finished', content: [{ type: 'text', text: 'done' }] });
  expect(seen).toEqual([
    { stream: 'stdout', offset: 0, text: 'öne\n' },
    { stream: 'stdout', offset: 5, text: 'two\n' },
    { stream: 'stdout', offset: 9, text: 'three\n' },
  ]);
});

test.each(names)('a call that times out is lost: it may have run (%s)', async (age) => {
  // Long enough for a busy machine to begin the call.
  const server = await serve(age, { run: () => new Promise(() => undefined) });
  const target = { ...server.target, timeoutMs: 2000 };
  expect(await remote.call(callOf(target))).toEqual({
    status: 'lost',
    message: "MCP server 'notes': it did not answer in time",
  });
  await closed(server);
});

test.each(names)('a cancelled call is cancelled at the server: %s', async (age) => {
  const events = new EventTarget();
  const server = await serve(age, {
    run: (_params, { signal }) => {
      signal.addEventListener('abort', () => events.dispatchEvent(new Event('cancelled')));
      events.dispatchEvent(new Event('runs'));
      return new Promise(() => undefined);
    },
  });
  const stop = new AbortController();
  const runs = once(events, 'runs');
  const cancelled = once(events, 'cancelled');
  const outcome = remote.call(callOf(server.target, { signal: stop.signal }));
  await runs;
  stop.abort();
  expect(await outcome).toEqual({ status: 'lost', message: "MCP server 'notes': the call was cancelled" });
  await cancelled;
  // Begin, call and, where no broken stream says so by itself, the word that it is cancelled.
  const posts = { modern: 2, 'older, with sessions': 5, 'oldest, with events': 4 };
  expect(server.requests.filter(({ method }) => method === 'POST')).toHaveLength(posts[age]);
  await closed(server);
});

test.each(names)('a server that dies during a call loses it at once: %s', async (age) => {
  const server = await serve(age, {
    run: () => {
      setImmediate(() => server.breakOff());
      return new Promise(() => undefined);
    },
  });
  expect(await remote.call(callOf(server.target))).toMatchObject({ status: 'lost' });
  await closed(server);
});

test.each(names)('a call cancelled before it began is not sent: %s', async (age) => {
  const server = await serve(age);
  const outcome = await remote.call(callOf(server.target, { signal: AbortSignal.abort() }));
  expect(outcome).toEqual({
    status: 'failed',
    code: 'mcp_server_unavailable',
    message: "MCP server 'notes' is not available: the call was cancelled",
  });
});

test('registered headers are sent with every request, except those that HTTP or the protocol sets', async () => {
  const server = await serve('modern');
  const headers = { Authorization: 'Bearer s3cret', Host: 'elsewhere', 'Mcp-Session-Id': 'x', 'X-Team': 'a' };
  await remote.call(callOf({ ...server.target, headers }));
  const seen = server.requests.map((request) => [
    request.headers.authorization,
    request.headers['x-team'],
    request.headers.host,
    request.headers['mcp-session-id'],
  ]);
  expect(seen).toEqual(seen.map(() => ['Bearer s3cret', 'a', `127.0.0.1:${server.port}`, undefined]));
  expect(seen.length).toBeGreaterThan(0);
});

test('a header that cannot be sent is named, without its value', async () => {
  const server = await serve('modern');
  const target = { ...server.target, headers: { Authorization: 'Bearer s3cret\n' + 'x\ny' } };
  expect(await remote.call(callOf(target))).toEqual({
    status: 'failed',
    code: 'mcp_server_unavailable',
    message: `MCP server 'notes' is not available: its header "Authorization" cannot be sent`,
  });
  await expect(remote.listTools(target)).rejects.toMatchObject({ code: 'mcp_server_unavailable' });
});

test('a session of an older server ends with the call', async () => {
  const server = await keep(sessionServer());
  const target: RemoteTarget = {
    name: 'n',
    transport: 'http',
    url: server.url,
    headers: {},
    timeoutMs: 5000,
  };
  expect(await remote.call(callOf(target))).toMatchObject({ status: 'finished' });
  expect(server.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
  expect(server.sessions.size).toBe(0);
});

test('no stream is opened for notifications', async () => {
  const server = await serve('older, with sessions');
  await remote.call(callOf(server.target));
  expect(server.requests.filter(({ method }) => method === 'GET')).toEqual([]);
});

test.each([401, 403, 404, 429, 500, 503])(
  'a server that answers everything with HTTP %d is not available',
  async (status) => {
    const server = await keep(listen((_request, response) => response.writeHead(status).end('secret words')));
    const message = `MCP server 'n' is not available: it answered with HTTP ${status}`;
    for (const transport of ['http', 'sse'] as const) {
      const target: RemoteTarget = { name: 'n', transport, url: server.url, headers: {}, timeoutMs: 5000 };
      expect(await remote.call(callOf(target))).toEqual({
        status: 'failed',
        code: 'mcp_server_unavailable',
        message,
        httpStatus: status,
      });
      const error = await remote.listTools(target).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(AppError);
      expect(error).toMatchObject({
        ...{ code: 'mcp_server_unavailable', message },
        details: { facts: { httpStatus: status } },
      });
    }
    await closed(server);
  },
);

test('a port without a listener is not available', async () => {
  const server = await listen(() => undefined);
  await server.stop();
  for (const transport of ['http', 'sse'] as const) {
    const target: RemoteTarget = { name: 'n', transport, url: server.url, headers: {}, timeoutMs: 5000 };
    expect(await remote.call(callOf(target))).toEqual({
      status: 'failed',
      code: 'mcp_server_unavailable',
      message: "MCP server 'n' is not available: it refused the connection",
    });
  }
});

test('a target without a URL is refused', async () => {
  const target: RemoteTarget = { name: 'n', transport: 'http', url: 'notes', headers: {}, timeoutMs: 5000 };
  const message = 'URL must start with http:// or https://';
  expect(await remote.call(callOf(target))).toMatchObject({
    status: 'failed',
    code: 'mcp_server_unavailable',
  });
  await expect(remote.listTools(target)).rejects.toMatchObject({ code: 'invalid_request', message });
});

test('a list has a deadline', async () => {
  const server = await keep(listen(() => undefined));
  for (const transport of ['http', 'sse'] as const) {
    const target: RemoteTarget = { name: 'n', transport, url: server.url, headers: {}, timeoutMs: 200 };
    await expect(remote.listTools(target)).rejects.toMatchObject({
      code: 'mcp_server_unavailable',
      message: "MCP server 'n' is not available: it did not answer in time",
    });
  }
  await closed(server);
});
