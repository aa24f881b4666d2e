/** Calls through a link that leads to streams of events as a sandbox sends them, and to sandboxes that break. */
import { afterEach, expect, test, vi } from 'vitest';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import { AppError, UnsentError } from '#shared/errors.ts';
import type { LinkRequest, SandboxCall, SandboxLink, ToolProgress } from '#shared/ports/sandbox.ts';
import { makeSandboxCalls } from './sandbox-calls.ts';

afterEach(() => {
  vi.useRealTimers();
});

const callOf = (more: Partial<SandboxCall> = {}): SandboxCall => ({
  sandbox: {
    workspaceId: 'w' as WorkspaceId,
    generation: 1,
    address: 'http://10.42.0.9:8080',
    flavor: 'micro',
  },
  callKey: 'turn-1:call/1',
  name: 'execute_command',
  args: { command: 'echo hi' },
  onProgress: () => undefined,
  ...more,
});

type Answer = (request: LinkRequest) => Promise<Response>;

const linkTo = (answer: Answer) => {
  const requests: LinkRequest[] = [];
  const older: string[] = [];
  const link: SandboxLink = {
    fetch: (_sandbox, request) => {
      requests.push(request);
      return answer(request);
    },
  };
  const tools = makeSandboxCalls(link, async (_link, { callKey }) => {
    older.push(callKey);
    return { status: 'running' };
  });
  return { tools, requests, older };
};

type Stream = ReadableStreamDefaultController<Uint8Array>;

const events = (start: (stream: Stream) => void, cancel?: () => void) =>
  new Response(new ReadableStream<Uint8Array>({ start, ...(cancel && { cancel }) }), {
    headers: { 'content-type': 'text/event-stream' },
  });

const say = (stream: Stream, event: object) =>
  stream.enqueue(Buffer.from(`data: ${JSON.stringify(event)}\n\n`));

const saying = (...all: readonly object[]) =>
  events((stream) => {
    for (const event of all) say(stream, event);
    stream.close();
  });

const done = { content: [{ type: 'text', text: 'hi\n' }], structuredContent: { exit_code: 0 } };
const finished = { status: 'finished', content: done.content, structured: { exit_code: 0 } };

test('a call is one request that carries its key', async () => {
  const { tools, requests } = linkTo(async () => saying({ result: done }));
  expect(await tools.call(callOf())).toEqual(finished);
  expect(requests).toMatchObject([{ method: 'POST', path: '/calls/turn-1%3Acall%2F1' }]);
  expect(JSON.parse(String(requests[0]?.body))).toEqual({
    name: 'execute_command',
    arguments: { command: 'echo hi' },
  });
});

test('a call with a bound carries it, and may be answered while it runs', async () => {
  const { tools, requests } = linkTo(async () => saying({ isRunning: true }));
  expect(await tools.callFor({ ...callOf(), waitMs: 5 })).toEqual({ status: 'running' });
  expect(JSON.parse(String(requests[0]?.body))).toMatchObject({ waitMs: 5 });
  // One without a bound is asked again.
  expect(await tools.call(callOf())).toMatchObject({ status: 'lost' });
});

test('output and the wish for the relay are heard while the tool runs, however the bytes are cut', async () => {
  const heard: (ToolProgress | 'relay')[] = [];
  const said = [
    { output: { stream: 'stdout', offset: 0, text: 'ä€🙂\n' } },
    { output: 'no piece' },
    { isRelayWanted: true },
    { result: done },
  ].map((event) => `data: ${JSON.stringify(event)}\n\n`);
  const bytes = Buffer.from(`: alive\n\n${said.join(': alive\n\n')}`);
  const { tools } = linkTo(async () =>
    events((stream) => {
      for (const byte of bytes) stream.enqueue(Uint8Array.of(byte));
      stream.close();
    }),
  );
  const call = callOf({
    onProgress: (progress) => void heard.push(progress),
    onRelayWanted: () => void heard.push('relay'),
  });
  expect(await tools.call(call)).toEqual(finished);
  expect(heard).toEqual([{ stream: 'stdout', offset: 0, text: 'ä€🙂\n' }, 'relay']);
});

test('a call is cancelled by its key', async () => {
  const { tools, requests } = linkTo(async () => Response.json({}));
  await tools.cancel(callOf().sandbox, 'turn-1:call/1');
  expect(requests).toMatchObject([{ method: 'POST', path: '/calls/turn-1%3Acall%2F1/cancel' }]);
});

test('the caller cancels a call that runs, and hears its end', async () => {
  const caller = new AbortController();
  const running = Promise.withResolvers<Stream>();
  const { tools, requests } = linkTo(async ({ path }) => {
    if (!path.endsWith('/cancel')) return events(running.resolve);
    const stream = await running.promise;
    say(stream, { result: done });
    stream.close();
    return Response.json({});
  });
  const call = tools.call(callOf({ signal: caller.signal }));
  await running.promise;
  caller.abort();
  expect(await call).toEqual(finished);
  expect(requests.length).toBe(2);
});

test('a call that its caller has left is not sent, and one that an earlier request began is killed', async () => {
  const { tools, requests } = linkTo(async () => Response.json({}));
  const outcome = await tools.callFor({ ...callOf(), waitMs: 5, signal: AbortSignal.abort() });
  expect(outcome).toEqual({ status: 'lost', message: 'the call was cancelled before it was sent' });
  expect(requests).toMatchObject([{ path: '/calls/turn-1%3Acall%2F1/cancel' }]);
});

const refused = (status: number, code: string) =>
  Response.json({ error: { code, message: 'no' } }, { status, headers: { 'x-sallyport-refusal': 'true' } });

test.each([
  [400, 'invalid_request'],
  [413, 'payload_too_large'],
])('what the sandbox refuses with %d has failed', async (status, code) => {
  const { tools, requests } = linkTo(async () => refused(status, code));
  expect(await tools.call(callOf())).toEqual({ status: 'failed', code, message: 'no' });
  expect(requests.length).toBe(1);
});

test('a sandbox that does not know the route is asked as those of the release before', async () => {
  const { tools, older } = linkTo(async () => refused(404, 'not_found'));
  expect(await tools.callFor({ ...callOf(), waitMs: 5 })).toEqual({ status: 'running' });
  expect(older).toEqual(['turn-1:call/1']);
});

test('a refusal of the tool is a failed call', async () => {
  const text = JSON.stringify({ error: { type: 'path_outside_workspace', message: 'no' } });
  const { tools } = linkTo(async () =>
    saying({ result: { isError: true, content: [{ type: 'text', text }] } }),
  );
  expect(await tools.call(callOf())).toEqual({
    status: 'failed',
    code: 'path_outside_workspace',
    message: 'no',
  });
});

test('a request that is too large for the link has failed and is not lost', async () => {
  const { tools } = linkTo(() => Promise.reject(new AppError('payload_too_large', 'at most 6 MB')));
  expect(await tools.call(callOf())).toEqual({
    status: 'failed',
    code: 'payload_too_large',
    message: 'at most 6 MB',
  });
});

test('a request of which no byte was sent is known to have had no effect', async () => {
  const { tools } = linkTo(() => Promise.reject(new UnsentError('the sandbox could not be reached')));
  expect(await tools.call(callOf())).toMatchObject({ status: 'lost', isUnsent: true });
});

test.each<[string, Answer]>([
  [
    'cannot be reached',
    () => Promise.reject(new AppError('sandbox_unavailable', 'the sandbox could not be reached')),
  ],
  ['does not know the bearer', async () => refused(401, 'unauthenticated')],
  ['fails', async () => new Response('oops', { status: 500 })],
  ['has a program in the place of its server', async () => new Response('no', { status: 404 })],
  ['answers something else', async () => new Response('<html>')],
  ['says what is no JSON', async () => new Response('data: {\n\n')],
  ['gives what is no result', async () => saying({ result: { content: 'text' } })],
  ['ends its stream without a result', async () => saying({ isRelayWanted: true })],
  ['breaks in the middle of its stream', async () => events((stream) => stream.error(new Error('reset')))],
])('the call of a sandbox that %s is lost at once', async (_title, answer) => {
  const { tools, requests, older } = linkTo(answer);
  expect(await tools.call(callOf())).toEqual({
    status: 'lost',
    message: expect.not.stringMatching(/^$|^Error/),
  });
  expect([requests.length, older]).toEqual([1, []]);
});

test('a silent sandbox is abandoned half a minute after the timeout of the tool', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate'] });
  let isBroken = false;
  const { tools } = linkTo(async () =>
    events(
      (stream) => say(stream, { output: { stream: 'stdout', offset: 0, text: 'x' } }),
      () => {
        isBroken = true;
      },
    ),
  );
  let outcome: unknown;
  const call = tools.call(callOf({ args: { command: 'sleep 9', timeout: 5 } })).then((value) => {
    outcome = value;
  });
  await vi.advanceTimersByTimeAsync(34_999);
  expect(outcome).toBeUndefined();
  await vi.advanceTimersByTimeAsync(2);
  await call;
  expect(outcome).toEqual({ status: 'lost', message: 'the sandbox did not answer in time' });
  expect(isBroken).toBe(true);
});

test('a stream that continues after its result is closed a second later', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let isBroken = false;
  const { tools } = linkTo(async () =>
    events(
      (stream) => say(stream, { result: done }),
      () => {
        isBroken = true;
      },
    ),
  );
  expect(await tools.call(callOf())).toEqual(finished);
  expect(isBroken).toBe(false);
  await vi.advanceTimersByTimeAsync(1000);
  expect(isBroken).toBe(true);
});

test('the message of a failed call is bounded, since a sandbox may have written it', async () => {
  const { tools } = linkTo(() => Promise.reject(new Error('x'.repeat(100_000))));
  const outcome = await tools.call(callOf());
  expect(outcome.status === 'lost' && outcome.message.length <= 500).toBe(true);
});

test.each([1e12, -5])('an invalid timeout (%d s) is left to the sandbox to refuse', async (timeout) => {
  const { tools } = linkTo(async () => saying({ result: done }));
  expect(await tools.call(callOf({ args: { command: 'true', timeout } }))).toEqual(finished);
});
