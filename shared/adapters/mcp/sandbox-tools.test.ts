/** Calls through a link that leads to a real MCP server in this process, and to sandboxes that break. */
import { EventEmitter, once } from 'node:events';
import { createMcpHandler, ProtocolError, Server, type ServerContext } from '@modelcontextprotocol/server';
import { expect, test, vi } from 'vitest';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import { AppError } from '#shared/errors.ts';
import type { LinkRequest, SandboxCall, SandboxLink, ToolProgress } from '#shared/ports/sandbox.ts';
import { makeSandboxTools } from './sandbox-tools.ts';

const callOf = (more: Partial<SandboxCall> = {}): SandboxCall => ({
  sandbox: {
    workspaceId: 'w' as WorkspaceId,
    generation: 1,
    address: 'http://10.42.0.9:8080',
    flavor: 'micro',
  },
  callKey: 'turn-1:call-1',
  name: 'execute_command',
  args: { command: 'echo hi' },
  onProgress: () => undefined,
  ...more,
});

type Seen = { readonly params: unknown; readonly meta: unknown };
type Run = (context: ServerContext, seen: Seen) => object | Promise<object>;

const serverOf = (run: Run) => () => {
  const server = new Server({ name: 'sandbox', version: '9' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const { _meta: _, ...rest } = params;
    return (await run(context, { params: rest, meta: context.mcpReq._meta })) as never;
  });
  return server;
};

type Answer = (request: Request) => Promise<Response>;

const linkTo = (answer: Answer) => {
  const requests: LinkRequest[] = [];
  const link: SandboxLink = {
    fetch: (_sandbox, request) => {
      requests.push(request);
      const { method, path, headers = {}, body, signal } = request;
      return answer(
        new Request(`http://sandbox${path}`, {
          method,
          headers,
          ...(body === undefined ? {} : { body }),
          ...(signal === undefined ? {} : { signal }),
        }),
      );
    },
  };
  return { tools: makeSandboxTools(link), requests };
};

const sandbox = (run: Run) => linkTo((request) => createMcpHandler(serverOf(run)).fetch(request));
const done = { content: [{ type: 'text', text: 'hi\n' }] };

/** An event stream that says some things and then does what a test wants. */
const streaming = (end: (controller: ReadableStreamDefaultController<Uint8Array>) => void) =>
  new Response(
    new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(Buffer.from(': still here\n\n'));
        end(controller);
      },
    }),
    { headers: { 'content-type': 'text/event-stream' } },
  );

test('a call is one request that carries its key', async () => {
  const seen: Seen[] = [];
  const { tools, requests } = sandbox((_context, call) => {
    seen.push(call);
    return { ...done, structuredContent: { exit_code: 0 } };
  });
  expect(await tools.call(callOf())).toEqual({
    status: 'finished',
    content: [{ type: 'text', text: 'hi\n' }],
    structured: { exit_code: 0 },
  });
  expect(seen).toEqual([
    {
      params: { name: 'execute_command', arguments: { command: 'echo hi' } },
      meta: expect.objectContaining({ 'dev.sallyport/callId': 'turn-1:call-1' }),
    },
  ]);
  expect(requests.map(({ method, path }) => [method, path])).toEqual([['POST', '/mcp']]);
});

test('a call with a bound carries it, and may be answered while it runs', async () => {
  const seen: Seen[] = [];
  const { tools } = sandbox((_context, call) => {
    seen.push(call);
    return { content: [], _meta: { 'dev.sallyport/isRunning': true } };
  });
  expect(await tools.callFor({ ...callOf(), waitMs: 5 })).toEqual({ status: 'running' });
  expect(seen).toMatchObject([{ meta: { 'dev.sallyport/waitMs': 5 } }]);
  // One without a bound is asked again.
  expect(await tools.call(callOf())).toMatchObject({ status: 'lost' });
  expect(seen[1]?.meta).not.toHaveProperty('dev.sallyport/waitMs');
});

test('a call is cancelled by its key', async () => {
  const { tools, requests } = sandbox(() => done);
  await tools.cancel(callOf().sandbox, 'turn-1:call/1');
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /calls/turn-1%3Acall%2F1/cancel',
  ]);
});

test('a call that its caller has left is not sent, and one that an earlier request began is killed', async () => {
  const { tools, requests } = sandbox(() => done);
  const outcome = await tools.callFor({ ...callOf(), waitMs: 5, signal: AbortSignal.abort() });
  expect(outcome).toEqual({ status: 'lost', message: 'the call was cancelled before it was sent' });
  expect(requests.map(({ path }) => path)).toEqual(['/calls/turn-1%3Acall-1/cancel']);
});

test('output is received while the tool runs', async () => {
  const heard: ToolProgress[] = [];
  const ears = new EventEmitter();
  const { tools } = sandbox(async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? '';
    const say = (progress: number, message: string) =>
      mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, message } });
    await say(1, 'not JSON');
    await say(2, '{"stream":"stdout","offset":0,"text":"first"}');
    await once(ears, 'first');
    return done;
  });
  const outcome = await tools.call(
    callOf({
      onProgress: (progress) => {
        heard.push(progress);
        ears.emit(progress.text);
      },
    }),
  );
  expect(outcome.status).toBe('finished');
  expect(heard).toEqual([{ stream: 'stdout', offset: 0, text: 'first' }]);
});

test('a refusal of the sandbox is a failed call', async () => {
  const text = JSON.stringify({ error: { type: 'path_outside_workspace', message: 'no' } });
  const { tools } = sandbox(() => ({ isError: true, content: [{ type: 'text', text }] }));
  expect(await tools.call(callOf())).toEqual({
    status: 'failed',
    code: 'path_outside_workspace',
    message: 'no',
  });
});

test('a protocol error is an answer: the call has failed', async () => {
  const { tools, requests } = sandbox(() => {
    throw new ProtocolError(-32602, 'there is no such tool');
  });
  expect(await tools.call(callOf())).toEqual({
    status: 'failed',
    code: 'internal_error',
    message: 'there is no such tool',
  });
  expect(requests.length).toBe(1);
});

test('a request that is too large for the link has failed and is not lost', async () => {
  const { tools } = linkTo(() => Promise.reject(new AppError('payload_too_large', 'at most 6 MB')));
  expect(await tools.call(callOf())).toEqual({
    status: 'failed',
    code: 'payload_too_large',
    message: 'at most 6 MB',
  });
});

test.each<[string, Answer]>([
  [
    'cannot be reached',
    () => Promise.reject(new AppError('sandbox_unavailable', 'the sandbox could not be reached')),
  ],
  ['does not know the bearer', async () => new Response('{}', { status: 401 })],
  ['fails', async () => new Response('oops', { status: 500 })],
  [
    'answers something else',
    async () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
  ],
  ['ends its stream without a result', async () => streaming((controller) => controller.close())],
  [
    'breaks in the middle of its stream',
    async () => streaming((controller) => controller.error(new Error('reset'))),
  ],
  [
    'breaks in the middle of a JSON answer',
    async () => {
      const broken = streaming((controller) => controller.error(new Error('reset')));
      return new Response(broken.body, { headers: { 'content-type': 'application/json' } });
    },
  ],
])('the call of a sandbox that %s is lost at once', async (_title, answer) => {
  const { tools, requests } = linkTo(answer);
  expect(await tools.call(callOf())).toEqual({
    status: 'lost',
    message: expect.not.stringMatching(/^$|^Error/),
  });
  expect(requests.length).toBe(1);
});

test('a result that arrives with the end of its stream counts', async () => {
  const { tools } = linkTo(async (request) => {
    const { id } = (await request.json()) as { id: number };
    const message = JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...done } });
    return streaming((controller) => {
      controller.enqueue(Buffer.from(`event: message\ndata: ${message}\n\n`));
      controller.close();
    });
  });
  expect(await tools.call(callOf())).toEqual({
    status: 'finished',
    content: [{ type: 'text', text: 'hi\n' }],
  });
});

test('a silent sandbox is abandoned half a minute after the timeout of the tool', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  try {
    const arrived = new EventEmitter();
    const arrival = once(arrived, 'call');
    let signal: AbortSignal | undefined;
    const { tools } = sandbox(({ mcpReq }) => {
      signal = mcpReq.signal;
      arrived.emit('call');
      return new Promise(() => undefined);
    });
    let outcome: unknown;
    const call = tools.call(callOf({ args: { command: 'sleep 9', timeout: 5 } })).then((value) => {
      outcome = value;
    });
    await arrival;
    await vi.advanceTimersByTimeAsync(34_999);
    expect(outcome).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    await call;
    expect(outcome).toEqual({ status: 'lost', message: 'Request timed out' });
    expect(signal?.aborted).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

test('a stream that continues after its result is closed a second later', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    let isBroken = false;
    const { tools } = linkTo(async (request) => {
      const { id } = (await request.json()) as { id: number };
      const message = JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...done } });
      request.signal.addEventListener('abort', () => {
        isBroken = true;
      });
      return streaming((controller) => controller.enqueue(Buffer.from(`data: ${message}\n\n`)));
    });
    expect((await tools.call(callOf())).status).toBe('finished');
    expect(isBroken).toBe(false);
    await vi.advanceTimersByTimeAsync(1000);
    expect(isBroken).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

test('a sandbox that refuses the version is called again with one that it supports', async () => {
  let isRefused = false;
  const { tools, requests } = linkTo(async (request) => {
    const body = (await request.clone().json()) as { id: number; method: string };
    if (body.method === 'tools/call' && !isRefused) {
      const error = {
        code: -32022,
        message: 'unsupported protocol version',
        data: { supported: ['2026-07-28'], requested: '2026-07-28' },
      };
      isRefused = true;
      return Response.json({ jsonrpc: '2.0', id: body.id, error }, { status: 400 });
    }
    return createMcpHandler(serverOf(() => done)).fetch(request);
  });
  expect((await tools.call(callOf())).status).toBe('finished');
  expect(requests.map(({ body }) => JSON.parse(String(body ?? '{}')).method)).toEqual([
    'tools/call',
    'server/discover',
    'tools/call',
  ]);
});

test('a sandbox of an older release is called in its own protocol', async () => {
  const { tools } = linkTo(async (request) => {
    const body =
      request.method === 'POST' ? ((await request.clone().json()) as { method: string }) : undefined;
    const isModern =
      request.headers.get('mcp-protocol-version') === '2026-07-28' || body?.method === 'server/discover';
    if (isModern) return new Response('Bad Request: Unsupported protocol version', { status: 400 });
    return createMcpHandler(serverOf(() => done)).fetch(request);
  });
  expect(await tools.call(callOf())).toEqual({
    status: 'finished',
    content: [{ type: 'text', text: 'hi\n' }],
  });
});

test('the message of a failed call is bounded, since a sandbox may have written it', async () => {
  const { tools } = sandbox(() => {
    throw new ProtocolError(-32602, 'x'.repeat(100_000));
  });
  const outcome = await tools.call(callOf());
  expect(outcome.status === 'failed' && outcome.message.length <= 500).toBe(true);
});

test.each([1e12, -5])('an invalid timeout (%d s) is left to the sandbox to refuse', async (timeout) => {
  const { tools } = sandbox(() => new Promise((resolve) => setImmediate(() => resolve(done))));
  expect((await tools.call(callOf({ args: { command: 'true', timeout } }))).status).toBe('finished');
});

test('a sandbox without a known protocol is lost', async () => {
  const { tools } = linkTo(async () => new Response('no', { status: 400 }));
  expect(await tools.call(callOf())).toMatchObject({ status: 'lost' });
});
