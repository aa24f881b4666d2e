import type { ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { MessageId } from '#shared/domain/ids.ts';
import type { ModelChunk, ModelRequest } from '#shared/domain/model.ts';
import { isAppError, isUncharged } from '#shared/errors.ts';
import { makeAnthropicProvider } from './anthropic.ts';
import { answered, fakeWire, type Reply, streamed } from './fixtures/fake-wire.ts';
import type { ModelBackend } from './model-backend.ts';

const key = 'sk-ant-secret';

const wire = async (...replies: Reply[]) => {
  const { seen, url: baseUrl } = await fakeWire(...replies);
  return { seen, provider: await makeAnthropicProvider({ auth: 'key', apiKey: key, baseUrl }) };
};

const request: ModelRequest = {
  model: 'claude-opus-5-5',
  system: 'Be brief.',
  tools: [{ name: 'list_files', description: 'Lists.', inputSchema: { type: 'object' } }],
  history: [{ role: 'user', messageId: 'm' as MessageId, text: 'hi' }],
  outputTokensMax: 100,
};

const answer = async (provider: ModelBackend): Promise<ModelChunk[]> =>
  Array.fromAsync(provider.stream(request, new AbortController().signal));

const failure = async (provider: ModelBackend) => {
  const error: unknown = await answer(provider).catch((thrown: unknown) => thrown);
  if (!isAppError(error)) throw new Error('no AppError', { cause: error });
  return { code: error.code, message: error.message, details: error.details };
};

type Event = { readonly type: string; readonly [key: string]: unknown };

const refused = (status: number, error: object, headers: Record<string, string> = {}): Reply =>
  answered(status, { type: 'error', error }, { 'request-id': 'req_1', ...headers });

const start: Event = {
  type: 'message_start',
  message: { usage: { input_tokens: 3, cache_read_input_tokens: 40, cache_creation_input_tokens: 500 } },
};
const text = (words: string): Event => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text: words },
});
const stop = (stop_reason: string, output_tokens = 7): Event => ({
  type: 'message_delta',
  delta: { stop_reason },
  usage: { output_tokens, input_tokens: null },
});
const call = (index: number, ...json: string[]): Event[] => [
  {
    type: 'content_block_start',
    index,
    content_block: { type: 'tool_use', id: `toolu_${index}`, name: 'list_files', input: {} },
  },
  ...json.map((partial_json) => ({
    type: 'content_block_delta',
    index,
    delta: { type: 'input_json_delta', partial_json },
  })),
  { type: 'content_block_stop', index },
];

test('the request goes to the messages endpoint under the key, with its cache marks', async () => {
  const { provider, seen } = await wire(streamed(start, text('yes'), stop('end_turn')));
  await answer(provider);
  expect(seen[0]?.url).toBe('/v1/messages');
  expect(seen[0]?.headers).toMatchObject({
    authorization: `Bearer ${key}`,
    'anthropic-version': '2026-10-21',
  });
  expect(seen[0]?.body).toEqual({
    model: 'claude-opus-5-5',
    max_tokens: 100,
    stream: true,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    tools: [
      {
        name: 'list_files',
        description: 'Lists.',
        input_schema: { type: 'object', properties: {} },
        cache_control: { type: 'ephemeral' },
      },
    ],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'hi', cache_control: { type: 'ephemeral' } }] },
    ],
  });
});

test('tokens read from and written to the cache are part of the usage', async () => {
  const { provider } = await wire(streamed(start, text('yes'), stop('end_turn', 9)));
  expect(await answer(provider)).toEqual([
    { type: 'text', text: 'yes' },
    {
      type: 'end',
      end: 'end_turn',
      usage: { inputTokens: 543, outputTokens: 9, cachedInputTokens: 40, cacheWriteInputTokens: 500 },
    },
  ]);
});

describe('arguments', () => {
  const argsOf = async (...json: string[]) => {
    const { provider } = await wire(streamed(start, ...call(1, ...json), stop('tool_use')));
    return (await answer(provider)).flatMap((chunk) => (chunk.type === 'call' ? [chunk.args] : []));
  };

  test('in pieces are joined', async () => {
    expect(await argsOf('', '{"pa', 'th":"a"}')).toEqual([{ path: 'a' }]);
  });

  test('that are missing are empty', async () => {
    expect(await argsOf()).toEqual([{}]);
  });

  test.each(['{"path":', '[1]', 'null', 'ls'])(
    'that are not an object are passed on unchanged: %s',
    async (json) => {
      expect(await argsOf(json)).toEqual([{ arguments_not_json: json }]);
    },
  );
});

describe('an answer ends', () => {
  test.each([
    ['end_turn', 'end_turn'],
    ['max_tokens', 'max_tokens'],
    ['tool_use', 'tool_use'],
    ['refusal', 'refused'],
    ['stop_sequence', 'end_turn'],
    ['pause_turn', 'end_turn'],
    ['a reason of tomorrow', 'end_turn'],
  ])('%s as %s', async (reason, end) => {
    const { provider } = await wire(streamed(start, text('yes'), stop(reason)));
    expect((await answer(provider)).at(-1)).toMatchObject({ type: 'end', end });
  });

  test('at the end of the context window as a conversation that is too long', async () => {
    const { provider } = await wire(streamed(start, text('yes'), stop('model_context_window_exceeded')));
    expect(await failure(provider)).toMatchObject({ code: 'context_too_long' });
  });

  test('at the output limit without the call it was writing', async () => {
    const cut = streamed(start, ...call(1, '{"path":"a"}'), ...call(2, '{"path":'), stop('max_tokens'));
    const { provider } = await wire(cut);
    expect(await answer(provider)).toMatchObject([
      { type: 'call', callId: 'toolu_1' },
      { end: 'max_tokens' },
    ]);
  });

  test('at the output limit without a call whose arguments had not begun', async () => {
    const { provider } = await wire(streamed(start, ...call(1), stop('max_tokens')));
    expect(await answer(provider)).toMatchObject([{ type: 'end', end: 'max_tokens' }]);
  });
});

test.each([
  ['signed', 'c2ln', { own: { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' } }],
  ['cut before it was signed', '', undefined],
])('thinking that was %s is stored as such', async (_title, signature, own) => {
  const thought = [
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'thinking', thinking: 'Hm.', signature },
    },
    { type: 'content_block_start', index: 1, content_block: { type: 'redacted_thinking', data: 'eA' } },
  ];
  const { provider } = await wire(streamed(start, ...thought, ...call(2), stop('tool_use')));
  const end = (await answer(provider)).at(-1);
  expect(end?.type === 'end' ? end.providerState : 'no end').toEqual(
    own && {
      provider: 'anthropic',
      model: 'claude-opus-5-5',
      withoutHistory: false,
      parts: [own, { own: { type: 'redacted_thinking', data: 'eA' } }, { call: true }],
    },
  );
});

describe('a refusal has the platform’s message', () => {
  const quoting = { type: 'invalid_request_error', message: `secret words ${key}` };
  test.each([
    [401, { type: 'authentication_error', message: key }, 'provider_auth_failed'],
    [403, { type: 'permission_error', message: key }, 'provider_auth_failed'],
    [402, { type: 'billing_error', message: key }, 'provider_auth_failed'],
    [
      400,
      { type: 'invalid_request_error', message: 'Your credit balance is too low' },
      'provider_auth_failed',
    ],
    [
      429,
      { type: 'rate_limit_error', message: key, details: { error_code: 'contract_spend_limit_reached' } },
      'provider_auth_failed',
    ],
    [429, { type: 'rate_limit_error', message: key }, 'provider_rate_limited'],
    [400, { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8' }, 'context_too_long'],
    [413, { type: 'request_too_large', message: key }, 'context_too_long'],
    [400, { type: 'invalid_request_error', message: 'blocked by content filtering' }, 'content_refused'],
    [404, { type: 'not_found_error', message: 'model: claude-opus-5-5' }, 'invalid_request'],
    [400, quoting, 'internal_error'],
  ])('%i %j', async (status, error, code) => {
    const { provider, seen } = await wire(refused(status, error));
    const told = await failure(provider);
    expect(told.code).toBe(code);
    expect(told.message).not.toContain(key);
    expect(told.details.context).toMatchObject({ status, requestId: 'req_1' });
    expect(seen).toHaveLength(1);
  });

  test('429 has the time to wait', async () => {
    const error = { type: 'rate_limit_error', message: 'slow down' };
    const { provider } = await wire(refused(429, error, { 'retry-after': '17' }));
    expect((await failure(provider)).details).toMatchObject({
      context: { status: 429, retryAfter: '17' },
      suggestions: ['Try again in 17 seconds.'],
    });
  });

  test('a status without a body is sufficient', async () => {
    const { provider } = await wire((response) => void response.writeHead(401).end());
    expect(await failure(provider)).toMatchObject({ code: 'provider_auth_failed' });
  });
});

describe('a transient failure is retried once, and then reported', () => {
  const overloaded = refused(529, { type: 'overloaded_error', message: 'Overloaded' });
  const broken = refused(500, { type: 'api_error', message: 'oops' });
  const hungUp: Reply = (response) => response.destroy();
  const yes = streamed(start, text('yes'), stop('end_turn'));

  test.each([
    ['an overload', overloaded, 'provider_overloaded'],
    ['a fault', broken, 'provider_unavailable'],
    [
      'a gateway that speaks HTML',
      (response: ServerResponse) => response.writeHead(502).end('<html>'),
      'provider_unavailable',
    ],
    ['a closed connection', hungUp, 'provider_unavailable'],
  ] as const)('%s', async (_title, reply, code) => {
    const { provider, seen } = await wire(reply, reply, yes);
    expect(await failure(provider)).toMatchObject({ code });
    expect(seen).toHaveLength(2);
    expect((await answer(provider))[0]).toEqual({ type: 'text', text: 'yes' });
  });

  const asked = async (...replies: Reply[]) => {
    const { provider, seen } = await wire(...replies);
    let times = 0;
    const mayResend = async (): Promise<boolean> => {
      times += 1;
      return false;
    };
    const chunks = Array.fromAsync(provider.stream(request, new AbortController().signal, { mayResend }));
    const error: unknown = await chunks.catch((thrown: unknown) => thrown);
    return { times, seen: seen.length, isUncharged: isUncharged(error) };
  };

  test.each([
    ['an overload', overloaded],
    ['a fault', broken],
  ] as const)('%s is charged by nobody, so that nobody is asked for the retry', async (_title, reply) => {
    expect(await asked(reply, reply)).toEqual({ times: 0, seen: 2, isUncharged: true });
  });

  test.each([
    ['a gateway', (response: ServerResponse) => response.writeHead(502).end('<html>')],
    ['a closed connection', hungUp],
  ] as const)(
    'after %s, who pays is asked for the retry, since the first may be charged for',
    async (_title, reply) => {
      expect(await asked(reply, yes)).toEqual({ times: 1, seen: 1, isUncharged: false });
    },
  );

  test('what breaks off after it began may be charged for', async () => {
    const cut = streamed(start, text('The first w'));
    expect(await asked(cut)).toEqual({ times: 0, seen: 1, isUncharged: false });
  });

  test('the retry may answer', async () => {
    const { provider } = await wire(hungUp, yes);
    expect((await answer(provider))[0]).toEqual({ type: 'text', text: 'yes' });
  });

  test('a call that must wait is not retried at once', async () => {
    const error = { type: 'overloaded_error', message: 'Overloaded' };
    const { provider, seen } = await wire(refused(529, error, { 'retry-after': '30' }), yes);
    expect(await failure(provider)).toMatchObject({ code: 'provider_overloaded' });
    expect(seen).toHaveLength(1);
  });
});

test.each([
  ['overloaded_error', 'provider_overloaded'],
  ['rate_limit_error', 'provider_rate_limited'],
  ['api_error', 'provider_unavailable'],
  ['authentication_error', 'provider_auth_failed'],
])('an answer that is interrupted by the event %s is %s', async (type, code) => {
  const { provider } = await wire(
    streamed(start, text('The first w'), { type: 'error', error: { type, message: key } }),
  );
  const told = await failure(provider);
  expect(told.code).toBe(code);
  expect(told.message).not.toContain(key);
});

test('a model near its end prints nothing', async () => {
  const warn = vi.spyOn(console, 'warn');
  onTestFinished(() => warn.mockRestore());
  const { provider } = await wire(streamed(start, text('yes'), stop('end_turn')));
  const old = { ...request, model: 'claude-sonnet-4-5' };
  await Array.fromAsync(provider.stream(old, new AbortController().signal));
  expect(warn).not.toHaveBeenCalled();
});
