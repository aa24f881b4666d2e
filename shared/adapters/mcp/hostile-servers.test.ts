/** Servers that mean harm, or are broken: what the caller hears of each, and that no connection stays open. */
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { ProtocolError } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { RemoteCall, RemoteTarget } from '#shared/ports/mcp-servers.ts';
import {
  type Loopback,
  listen,
  listenRaw,
  modernServer,
  reply,
  said,
  text,
  turncoat,
} from './fixtures/loopback-servers.ts';
import { makeRemoteMcp } from './remote-mcp.ts';

const started: Loopback[] = [];
const keep = async (loopback: Promise<Loopback>): Promise<Loopback> => {
  started.push(await loopback);
  return loopback;
};
afterEach(async () => {
  await Promise.all(started.splice(0).map(({ stop }) => stop()));
});

const remote = makeRemoteMcp({ allowedPrivateHosts: ['127.0.0.1'] });
const targetOf = ({ url }: Loopback, more: Partial<RemoteTarget> = {}): RemoteTarget => ({
  name: 'notes',
  transport: 'http',
  url,
  headers: { Authorization: 'Bearer s3cret' },
  timeoutMs: 3000,
  ...more,
});
const call = (target: RemoteTarget, more: Partial<RemoteCall> = {}) =>
  remote.call({ target, tool: 'echo', args: {}, onProgress: () => undefined, ...more });
const closed = (server: Loopback) =>
  vi.waitFor(() => expect(server.openCount()).toBe(0), { timeout: 50_000 });
const unavailable = (reason: string) => ({
  code: 'mcp_server_unavailable',
  message: `MCP server 'notes' is not available: ${reason}`,
});
/** Both uses of a server that fails before it was asked anything. */
const expectUnavailable = async (server: Loopback, reason: string, more?: Partial<RemoteTarget>) => {
  const target = targetOf(server, more);
  expect(await call(target)).toEqual({ status: 'failed', ...unavailable(reason) });
  await expect(remote.listTools(target)).rejects.toMatchObject(unavailable(reason));
  await closed(server);
};

describe('a redirect to a private address is refused', () => {
  const locations = [
    'http://10.0.0.1/mcp',
    'http://169.254.169.254/latest/meta-data/',
    'http://localhost:9001/',
  ];
  test.each(locations)('%s', async (location) => {
    const server = await keep(listen((_request, response) => response.writeHead(307, { location }).end()));
    const message = `the address of ${new URL(location).hostname} is private, loopback or link-local`;
    for (const transport of ['http', 'sse'] as const) {
      const target = targetOf(server, { transport });
      expect(await call(target)).toEqual({ status: 'failed', ...unavailable(message) });
      await expect(remote.listTools(target)).rejects.toMatchObject({ code: 'invalid_request', message });
    }
    await closed(server);
  });

  test('also when the handshake was honest', async () => {
    const server = await keep(
      turncoat((_message, response) => response.writeHead(307, { location: 'http://10.0.0.1/' }).end()),
    );
    expect(await call(targetOf(server))).toEqual({
      status: 'failed',
      ...unavailable('the address of 10.0.0.1 is private, loopback or link-local'),
    });
    await closed(server);
  });
});

test('a registered private address is refused', async () => {
  const strict = makeRemoteMcp({ allowedPrivateHosts: [] });
  const server = await keep(modernServer());
  const message = 'the address of 127.0.0.1 is private, loopback or link-local';
  await expect(strict.listTools(targetOf(server))).rejects.toMatchObject({
    code: 'invalid_request',
    message,
  });
  expect(
    await strict.call({ target: targetOf(server), tool: 'echo', args: {}, onProgress: () => undefined }),
  ).toEqual({ status: 'failed', ...unavailable(message) });
  expect(server.requests).toEqual([]);
});

test('another origin never sees the headers of the registered one', async () => {
  const other = await keep(listen((_request, response) => response.writeHead(401).end()));
  const server = await keep(
    listen((_request, response) =>
      response.writeHead(307, { location: `http://127.0.0.1:${other.port}/` }).end(),
    ),
  );
  await call(targetOf(server));
  expect(other.requests.length).toBeGreaterThan(0);
  expect(other.requests.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
});

const endless = (response: ServerResponse, type = 'application/json'): void => {
  response.writeHead(200, { 'content-type': type });
  const more = (): void => {
    while (response.write(' '.repeat(65_536)));
  };
  response.on('drain', more);
  more();
};

test('an endless first answer', async () => {
  const server = await keep(listen((_request, response) => endless(response)));
  await expectUnavailable(server, 'its answer is too large');
});

test.each(['application/json', 'text/event-stream'])('an endless result: %s', async (type) => {
  const server = await keep(turncoat((_message, response) => endless(response, type)));
  expect(await call(targetOf(server))).toEqual({
    status: 'failed',
    code: 'resource_limit_exceeded',
    message: "MCP server 'notes': its answer is too large",
  });
  await closed(server);
});

test('headers that come a byte at a time', async () => {
  const server = await keep(
    listenRaw((socket) => {
      socket.resume().write('HTTP/1.1 200 OK\r\n');
      const drip = setInterval(() => socket.write('x'), 20);
      socket.on('close', () => clearInterval(drip));
    }),
  );
  await expectUnavailable(server, 'it did not answer in time', { timeoutMs: 300 });
});

test('an answer that would be large once unpacked', async () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000, ' '));
  const server = await keep(
    listen((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb);
    }),
  );
  await expectUnavailable(server, 'its answer is compressed');
});

test('an answer of another kind', async () => {
  const server = await keep(
    listen(async (request, response) => {
      await text(request);
      response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>');
    }),
  );
  await expectUnavailable(server, 'it does not answer as an MCP server does');
});

/** A call that waited for its own limit would be ended by the limit of its test. */
const hungMs = 600_000;

describe('a call fails at once', () => {
  const lost = { status: 'lost', message: "MCP server 'notes': it closed the connection before it answered" };
  const quickly = async (server: Loopback): Promise<unknown> => {
    const outcome = await call(targetOf(server, { timeoutMs: hungMs }));
    await closed(server);
    return outcome;
  };

  test('when the answer is for another request', async () => {
    const server = await keep(
      turncoat(({ id }, response) => reply(response, { id: id + 1000, result: said('x') })),
    );
    expect(await quickly(server)).toEqual(lost);
  });

  test('when the stream ends without an answer', async () => {
    const server = await keep(
      turncoat((_message, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': nothing\n\n');
      }),
    );
    expect(await quickly(server)).toEqual(lost);
  });

  test('when a request is answered as a notification', async () => {
    const server = await keep(turncoat((_message, response) => response.writeHead(202).end()));
    expect(await quickly(server)).toEqual(lost);
  });

  test('when the server disconnects instead', async () => {
    const server = await keep(turncoat((_message, response) => response.destroy()));
    expect(await quickly(server)).toEqual({
      status: 'lost',
      message: "MCP server 'notes': it closed the connection",
    });
  });

  test('when the server answers with an error of its own', async () => {
    const server = await keep(turncoat((_message, response) => response.writeHead(502).end('<html>')));
    expect(await quickly(server)).toEqual({
      status: 'lost',
      message: "MCP server 'notes': it answered with HTTP 502",
      httpStatus: 502,
    });
  });
});

test('a call that is refused has not run', async () => {
  const server = await keep(turncoat((_message, response) => response.writeHead(403).end('Bearer s3cret')));
  expect(await call(targetOf(server))).toEqual({
    status: 'failed',
    ...unavailable('it answered with HTTP 403'),
    httpStatus: 403,
  });
});

test('a stream that promises to resume and does not is lost', async () => {
  const server = await keep(
    turncoat((_message, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('retry: 10\nid: 1\ndata:\n\n');
    }),
  );
  expect(await call(targetOf(server))).toMatchObject({ status: 'lost' });
  await closed(server);
});

test('an invalid result is a failure', async () => {
  const server = await keep(
    turncoat(({ id }, response) => reply(response, { id, result: { content: 'x' } })),
  );
  expect(await call(targetOf(server))).toMatchObject({ status: 'failed', code: 'tool_failed' });
});

test('the message of an error is bounded', async () => {
  const error = { code: -32_000, message: 'x'.repeat(100_000) };
  const server = await keep(turncoat(({ id }, response) => reply(response, { id, error })));
  const outcome = await call(targetOf(server));
  expect(outcome).toMatchObject({ status: 'failed', code: 'tool_failed' });
  expect('message' in outcome && outcome.message.length < 600).toBe(true);
});

test('an endpoint for messages at another origin is not used', async () => {
  const other = await keep(listen((_request, response) => response.writeHead(202).end()));
  const server = await keep(
    listen((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: endpoint\ndata: http://127.0.0.1:${other.port}/steal\n\n`);
    }),
  );
  expect(await call(targetOf(server, { transport: 'sse' }))).toMatchObject({
    status: 'failed',
    code: 'mcp_server_unavailable',
  });
  expect(other.requests).toEqual([]);
  await closed(server);
});

describe('lists', () => {
  const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });

  test('of more than a megabyte are refused', async () => {
    const list = Array.from({ length: 300 }, (_, n) => tool(`t${n}`, { description: 'x'.repeat(4000) }));
    const server = await keep(modernServer({ list }));
    await expect(remote.listTools(targetOf(server))).rejects.toMatchObject(
      unavailable('its answer is too large'),
    );
    await closed(server);
  });

  test('are read up to the thousandth tool', async () => {
    const list = Array.from({ length: 1500 }, (_, n) => tool(`t${n}`));
    const server = await keep(modernServer({ list }));
    const tools = await remote.listTools(targetOf(server));
    expect(tools.map(({ name }) => name)).toEqual(Array.from({ length: 1000 }, (_, n) => `t${n}`));
  });

  test('that never end are read up to a limit', async () => {
    let pages = 0;
    const server = await keep(
      turncoat(({ id }, response) => {
        pages += 1;
        reply(response, { id, result: { tools: [tool(`t${pages}`)], nextCursor: String(pages) } });
      }),
    );
    expect(await remote.listTools(targetOf(server))).toHaveLength(20);
    expect(pages).toBe(20);
    await closed(server);
  });

  test('of a server without tools are empty', async () => {
    const server = await keep(
      turncoat(({ id }, response) => reply(response, { id, error: { code: -32_601, message: 'no' } })),
    );
    expect(await remote.listTools(targetOf(server))).toEqual([]);
  });

  test.each([{ tools: 'x' }, {}, []])('that are invalid are refused: %j', async (result) => {
    const server = await keep(turncoat(({ id }, response) => reply(response, { id, result })));
    await expect(remote.listTools(targetOf(server))).rejects.toMatchObject({
      code: 'mcp_server_unavailable',
    });
  });

  test('skip invalid tools, and keep the rest', async () => {
    const list = [null, tool('no spaces'), tool('good'), { name: 'bare' }, tool('odd', { inputSchema: [] })];
    const server = await keep(
      turncoat(({ id }, response) => reply(response, { id, result: { tools: list } })),
    );
    expect(await remote.listTools(targetOf(server))).toEqual([tool('good')]);
  });
});

test('a pattern that would run forever is never executed', async () => {
  const properties = { a: { type: 'string', pattern: '^(a+)+$' } };
  const list = [
    { name: 'echo', inputSchema: { type: 'object' }, outputSchema: { type: 'object', properties } },
  ];
  const structuredContent = { a: `${'a'.repeat(28)}!` };
  let calls = 0;
  const run = () => {
    calls += 1;
    // The client lists the tools, with their schemas, and calls again.
    if (calls === 1) throw new ProtocolError(-32_020, 'a header is missing');
    return { content: [], structuredContent };
  };
  const server = await keep(modernServer({ list, run }));
  expect(await call(targetOf(server))).toEqual({
    status: 'finished',
    content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
    structured: structuredContent,
  });
  expect(calls).toBe(2);
});
