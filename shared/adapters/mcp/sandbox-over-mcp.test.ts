/** Calls over MCP through a link that leads to a real MCP server in this process, and to sandboxes that break. */
import { EventEmitter, once } from 'node:events';
import { createMcpHandler, ProtocolError, Server, type ServerContext } from '@modelcontextprotocol/server';
import { expect, test, vi } from 'vitest';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import { AppError } from '#shared/errors.ts';
import type { LinkRequest, SandboxLink, ToolProgress } from '#shared/ports/sandbox.ts';
import type { AskedCall } from '../sandbox/call-request.ts';
import { askOverMcp } from './sandbox-over-mcp.ts';

const callOf = (more: Partial<AskedCall> = {}): AskedCall => ({
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
  return { ask: (call: AskedCall) => askOverMcp(link, call), requests };
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
  const { ask, requests } = sandbox((_context, call) => {
    seen.push(call);
    return { ...done, structuredContent: { exit_code: 0 } };
  });
  expect(await ask(callOf())).toEqual({
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
  const { ask } = sandbox((_context, call) => {
    seen.push(call);
    return { content: [], _meta: { 'dev.sallyport/isRunning': true } };
  });
  expect(await ask(callOf({ waitMs: 5 }))).toEqual({ status: 'running' });
  expect(seen).toMatchObject([{ meta: { 'dev.sallyport/waitMs': 5 } }]);
});

test('output is received while the tool runs', async () => {
  const heard: ToolProgress[] = [];
  const ears = new EventEmitter();
  const { ask } = sandbox(async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? '';
    const say = (progress: number, message: string) =>
      mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, message } });
    await say(1, 'not JSON');
    await say(2, '{"stream":"stdout","offset":0,"text":"first"}');
    await once(ears, 'first');
    return done;
  });
  const outcome = await ask(
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
  const { ask } = sandbox(() => ({ isError: true, content: [{ type: 'text', text }] }));
  expect(await ask(callOf())).toEqual({
    status: 'failed',
    code: 'path_outside_workspace',
    message: 'no',
  });
});

test('a protocol error is an answer: the call has failed', async () => {
  const { ask, requests } = sandbox(() => {
    throw new ProtocolError(-32602, 'there is no such tool');
  });
  expect(await ask(callOf())).toEqual({
    status: 'failed',
    code: 'internal_error',
    message: 'there is no such tool',
  });
  expect(requests.length).toBe(1);
});

test('a request that is too large for the link has failed and is not lost', async () => {
  const { ask } = linkTo(() => Promise.reject(new AppError('payload_too_large', 'at most 6 MB')));
  expect(await ask(callOf())).toEqual({
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
  const { ask, requests } = linkTo(answer);
  expect(await ask(callOf())).toEqual({
    status: 'lost',
    message: expect.not.stringMatching(/^$|^Error/),
  });
  expect(requests.length).toBe(1);
});

test('a result that arrives with the end of its stream counts', async () => {
  const { ask } = linkTo(async (request) => {
    const { id } = (await request.json()) as { id: number };
    const message = JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...done } });
    return streaming((controller) => {
      controller.enqueue(Buffer.from(`event: message\ndata: ${message}\n\n`));
      controller.close();
    });
  });
  expect(await ask(callOf())).toEqual({
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
    const { ask } = sandbox(({ mcpReq }) => {
      signal = mcpReq.signal;
      arrived.emit('call');
      return new Promise(() => undefined);
    });
    let outcome: unknown;
    const call = ask(callOf({ args: { command: 'sleep 9', timeout: 5 } })).then((value) => {
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
    const { ask } = linkTo(async (request) => {
      const { id } = (await request.json()) as { id: number };
      const message = JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...done } });
      request.signal.addEventListener('abort', () => {
        isBroken = true;
      });
      return streaming((controller) => controller.enqueue(Buffer.from(`data: ${message}\n\n`)));
    });
    expect((await ask(callOf())).status).toBe('finished');
    expect(isBroken).toBe(false);
    await vi.advanceTimersByTimeAsync(1000);
    expect(isBroken).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

test('the message of a failed call is bounded, since a sandbox may have written it', async () => {
  const { ask } = sandbox(() => {
    throw new ProtocolError(-32602, 'x'.repeat(100_000));
  });
  const outcome = await ask(callOf());
  expect(outcome.status === 'failed' && outcome.message.length <= 500).toBe(true);
});

test.each([1e12, -5])('an invalid timeout (%d s) is left to the sandbox to refuse', async (timeout) => {
  const { ask } = sandbox(() => new Promise((resolve) => setImmediate(() => resolve(done))));
  expect((await ask(callOf({ args: { command: 'true', timeout } }))).status).toBe('finished');
});

test('a sandbox without a known protocol is lost', async () => {
  const { ask } = linkTo(async () => new Response('no', { status: 400 }));
  expect(await ask(callOf())).toMatchObject({ status: 'lost' });
});
