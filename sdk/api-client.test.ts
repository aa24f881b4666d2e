import { expect, onTestFinished, test, vi } from 'vitest';
import { ApiClient, type ClientOptions } from './api-client.ts';
import { readCall } from './approvals.ts';
import { SallyportError } from './errors.ts';
import { api } from './routes.ts';

const refusal = (code: string) => ({
  error: { code, message: 'no', suggestions: ['Less.'], requestId: 'r' },
});

/** A client whose requests are answered one after the other, and what it asked. */
const answering = (answers: readonly (Response | Error)[], options: Partial<ClientOptions> = {}) => {
  const asked: string[] = [];
  const left = [...answers];
  const client = new ApiClient({
    url: 'https://x.example/app',
    token: 't',
    ...options,
    fetch: async (url, { method, headers } = {}) => {
      asked.push(`${method} ${String(url)} ${new Headers(headers).get('authorization')}`);
      const answer = left.shift() ?? new Error('nothing more is answered');
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  return { client, asked };
};

test.each(['..', '.'])(
  'a name of %s stays in its place: no parser takes it for the resource above',
  async (name) => {
    const { client, asked } = answering([new Response('{}'), new Response('{}')]);
    await client.request(api.deleteSecret, { params: { id: 'p', name } });
    const [, address = ''] = asked[0]?.split(' ') ?? [];
    expect(new URL(address).pathname).toMatch(/^\/api\/projects\/p\/secrets\/\.+%00$/);
  },
);

test.each([
  ['the last name', { id: 'p', name: '' }],
  ['a name before it', { id: '', name: 'n' }],
])('%s is empty: it is refused before another resource is addressed', async (_, params) => {
  const { client, asked } = answering([]);
  const refused = await failureOf(client.request(api.deleteSecret, { params }));
  const suggestions = ['Give the id or the name.'];
  expect(refused).toMatchObject({ code: 'invalid_request', status: 0, suggestions });
  expect(asked).toEqual([]);
});

const soon = { headers: { 'retry-after': '0.01' } };
const failureOf = (request: Promise<unknown>) =>
  request.then(
    () => undefined,
    (error: unknown) => error as SallyportError,
  );

test('a route is called with its parameters, under the token, at the origin', async () => {
  const { client, asked } = answering([Response.json({ files: [] })]);
  const answer = await client.request(api.listFiles, { params: { id: 'a/b' }, query: { path: 'c d' } });
  expect(answer).toEqual({ files: [] });
  expect(asked).toEqual(['GET https://x.example/api/sessions/a%2Fb/files?path=c%20d Bearer t']);
});

test('a refusal is an error with the server’s message', async () => {
  const { client } = answering([Response.json(refusal('conflict'), { status: 409 })]);
  const error = await failureOf(client.request(api.stats));
  expect(error).toBeInstanceOf(SallyportError);
  expect(error).toMatchObject({ code: 'conflict', status: 409, suggestions: ['Less.'], requestId: 'r' });
});

test.each([
  ['rate_limited', 'GET', 2],
  ['rate_limited', 'POST', 2],
  ['sandbox_starting', 'GET', 2],
  ['sandbox_starting', 'POST', 1],
  ['resource_limit_exceeded', 'GET', 1],
] as const)('after %s a %s is sent %d times', async (code, method, times) => {
  const { client, asked } = answering([
    Response.json(refusal(code), { status: 429, ...soon }),
    Response.json({}),
  ]);
  await failureOf(client.fetch('/x', { method }));
  expect(asked).toHaveLength(times);
});

test('no request is retried if the caller disables it', async () => {
  const { client, asked } = answering([Response.json(refusal('rate_limited'), { status: 429, ...soon })], {
    triesMax: 1,
  });
  expect(await failureOf(client.request(api.stats))).toMatchObject({ code: 'rate_limited' });
  expect(asked).toHaveLength(1);
});

test.each([
  [new Response('<html>', { status: 502 }), 'HTTP 502'],
  [new Response('<html>'), 'the answer is not JSON'],
  [
    new Response(null, { status: 302, headers: { location: 'https://y.example/in' } }),
    'redirects to https://y.example',
  ],
])('an answer that is not Sallyport’s is reported: %#', async (answer, why) => {
  const error = await failureOf(answering([answer], { triesMax: 1 }).client.request(api.stats));
  expect(error).toMatchObject({ code: 'unexpected_answer', message: expect.stringContaining(why) });
});

test('a missing answer is unreachable, with the reason; an abort is the caller’s own error', async () => {
  const cause = new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });
  expect(await failureOf(answering([cause], { triesMax: 1 }).client.request(api.stats))).toMatchObject({
    code: 'unreachable',
    status: 0,
    message: 'https://x.example cannot be reached: nothing listens there',
  });
  const signal = AbortSignal.abort();
  const ended = failureOf(answering([new Error('ended')]).client.request(api.stats, {}, { signal }));
  expect(await ended).toBe(signal.reason);
});

test('where no answer came in time, what was asked may still be done', async () => {
  const silent: typeof fetch = (_, { signal } = {}) =>
    new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  const client = new ApiClient({ url: 'https://x.example', fetch: silent, timeoutMs: 1 });
  expect(await failureOf(client.request(api.stats))).toMatchObject({
    ...{ code: 'unreachable', status: 0, message: 'https://x.example did not answer in time' },
    suggestions: ['Check the URL. Check whether it was done. If not, send it again.'],
  });
});

test.each([
  ['another origin', 'https://app.example', /own origin alone \(CORS\)/],
  ['the origin of the server', 'https://x.example', /^Check the URL/],
])('in a page of %s a request that fails without a reason is explained', async (_title, origin, advice) => {
  vi.stubGlobal('location', { origin });
  onTestFinished(() => void vi.unstubAllGlobals());
  const { client } = answering([new TypeError('Failed to fetch')], { triesMax: 1 });
  expect(await failureOf(client.request(api.stats))).toMatchObject({
    ...{ code: 'unreachable', message: 'https://x.example cannot be reached: Failed to fetch' },
    suggestions: [expect.stringMatching(advice)],
  });
});

/** SHA-256 of {"args":{"command":"a\nb","timeout":5},"callId":"c-1","name":"execute_command","turnId":"t-1"} */
const digest = '896f2e0a0fe99c84ee880eb7a63ef14f2ede4ba643e9f9d5ba5b2ec6c8916415';
const call = {
  ...{ sessionId: 's', turnId: 't-1', callId: 'c-1', name: 'execute_command' },
  args: { timeout: 5, command: 'a\nb' },
};

test('a call is accepted when its computed digest matches the answer and the request', async () => {
  const read = (answer: object, asked?: string) =>
    failureOf(readCall(answering([Response.json(answer)]).client, call, asked));
  expect(await readCall(answering([Response.json({ ...call, digest })]).client, call, digest)).toEqual({
    ...call,
    digest,
  });
  expect(await read({ ...call, digest: '0' })).toMatchObject({ code: 'digest_mismatch' });
  expect(await read({ ...call, digest }, '0')).toMatchObject({ code: 'digest_mismatch' });
});

test.each([
  new Response('<html>', { status: 504 }),
  Response.json(refusal('internal_error'), { status: 500 }),
  Response.json(refusal('sandbox_unavailable'), { status: 503, ...soon }),
  new TypeError('fetch failed'),
])('a deletion whose first answer was lost is done when nothing is left: %s', async (lost) => {
  const gone = () => Response.json(refusal('not_found'), { status: 404 });
  const { client, asked } = answering([lost, gone(), gone()]);
  await client.request(api.deleteSecret, { params: { id: 'p', name: 'n' } });
  expect(asked).toHaveLength(2);
  const error = await failureOf(client.request(api.deleteSecret, { params: { id: 'p', name: 'n' } }));
  expect(error).toMatchObject({ status: 404, code: 'not_found' });
});

test('an abort ends a request and a pause also where signals cannot be joined, as in Node 20.0', async () => {
  const { any } = AbortSignal;
  Object.assign(AbortSignal, { any: undefined });
  try {
    const asked = Promise.withResolvers<AbortSignal>();
    const hanging = new ApiClient({
      ...{ url: 'https://x.example', token: 't' },
      fetch: (_, { signal } = {}) =>
        new Promise((_, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason));
          if (signal) asked.resolve(signal);
        }),
    });
    const stop = new AbortController();
    const { signal } = stop;
    const failed = failureOf(hanging.request(api.stats, {}, { signal }));
    expect(await Promise.race([asked.promise, failed])).toMatchObject({ aborted: false });
    stop.abort('enough');
    expect(await failed).toBe('enough');
    const { client } = answering([Response.json(refusal('rate_limited'), { status: 429 })]);
    const paused = failureOf(client.request(api.stats, {}, { signal: AbortSignal.timeout(5) }));
    expect(await paused).toMatchObject({ name: 'TimeoutError' });
  } finally {
    Object.assign(AbortSignal, { any });
  }
});
