import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { CallId, MessageId } from '#shared/domain/ids.ts';
import type { ModelChunk, ModelRequest } from '#shared/domain/model.ts';
import { isAppError } from '#shared/errors.ts';
import { answered, fakeWire, type Reply, streamed } from './fixtures/fake-wire.ts';
import { makeGeminiProvider } from './gemini.ts';

const fake = new LLMock({ port: 0, host: '127.0.0.1', chunkSize: 5 });
beforeAll(async () => void (await fake.start()));
afterAll(async () => fake.stop());
beforeEach(() => void fake.clearFixtures().clearRequests());

const user = (text: string): HistoryMessage => ({ role: 'user', messageId: 'm' as MessageId, text });
const assistant = (text: string, ...asked: [callId: string, name: string][]): HistoryMessage => ({
  role: 'assistant',
  messageId: 'a' as MessageId,
  text,
  calls: asked.map(([callId, name]) => ({ callId: callId as CallId, name, args: { path: 'x' } })),
});
const result = (
  callId: string,
  text: string,
  outcome: 'completed' | 'failed' | 'rejected' = 'completed',
): HistoryMessage => ({ role: 'tool', callId: callId as CallId, name: 'read-file', text, outcome });

const request = (history: readonly HistoryMessage[], model = 'gemini-3.8-flash'): ModelRequest => ({
  model,
  system: 'Be brief.',
  tools: ['read-file', 'read.file', 'read_file'].map((name) => ({
    name,
    description: `This is ${name}.`,
    inputSchema: { type: 'object' },
  })),
  history,
  outputTokensMax: 100,
});
const answer = async (
  baseUrl: string,
  history: readonly HistoryMessage[] = [user('hi')],
  model?: string,
): Promise<ModelChunk[]> => {
  const provider = makeGeminiProvider({ apiKey: 'key-test', baseUrl });
  return Array.fromAsync(provider.stream(request(history, model), new AbortController().signal));
};
const failure = async (reply: Reply, model?: string) => {
  const { url, seen } = await fakeWire(reply);
  const error: unknown = await answer(url, [user('hi')], model).catch((thrown: unknown) => thrown);
  if (!isAppError(error)) throw new Error('no AppError', { cause: error });
  return { code: error.code, message: error.message, details: error.details, tries: seen.length };
};

const chunk = (parts: readonly object[], more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, ...more }],
});
const stop = chunk([], { finishReason: 'STOP' });

describe('against a complete fake server', () => {
  test('the text comes whole, then the end with the cost', async () => {
    const usage = { promptTokenCount: 12, candidatesTokenCount: 4, totalTokenCount: 16 };
    fake.onMessage('hello', { content: 'Hello, you!', usage });
    const chunks = await answer(fake.url, [user('hello')]);
    expect(chunks.map((chunk) => (chunk.type === 'text' ? chunk.text : '')).join('')).toBe('Hello, you!');
    expect(chunks.at(-1)).toEqual({
      type: 'end',
      end: 'end_turn',
      usage: { inputTokens: 12, outputTokens: 4 },
    });
  });

  test('parallel calls return under the platform’s tool names, even similar ones', async () => {
    fake.onMessage('look', {
      toolCalls: [
        { id: 'c1', name: 'read_file', arguments: '{"path":"src"}' },
        { id: 'c2', name: 'read_file_2', arguments: '{}' },
        { id: 'c3', name: 'read_file_3', arguments: '{}' },
      ],
    });
    expect(await answer(fake.url, [user('look')])).toEqual([
      { type: 'call', callId: 'c1', name: 'read_file', args: { path: 'src' } },
      { type: 'call', callId: 'c2', name: 'read-file', args: {} },
      { type: 'call', callId: 'c3', name: 'read.file', args: {} },
      { type: 'end', end: 'tool_use', usage: { inputTokens: 0, outputTokens: 0 } },
    ]);
  });

  test.each([
    [401, 'provider_auth_failed'],
    [429, 'provider_rate_limited'],
    [503, 'provider_overloaded'],
    [529, 'provider_overloaded'],
    [500, 'provider_unavailable'],
  ])('the status %i is %s', async (status, code) => {
    fake.onMessage('hello', { error: { message: 'no' }, status });
    await expect(answer(fake.url, [user('hello')])).rejects.toMatchObject({ code });
  });
});

test('the request names the model and the key, and tool names that Gemini accepts', async () => {
  const { url, seen } = await fakeWire(streamed(stop));
  await answer(url);
  expect(seen[0]?.url).toBe('/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse');
  expect(seen[0]?.headers['x-goog-api-key']).toBe('key-test');
  expect(seen[0]?.body).toEqual({
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    generationConfig: { maxOutputTokens: 100 },
    tools: [
      {
        functionDeclarations: [
          { name: 'read_file_2', description: 'This is read-file.' },
          { name: 'read_file_3', description: 'This is read.file.' },
          { name: 'read_file', description: 'This is read_file.' },
        ].map((tool) => ({ ...tool, parametersJsonSchema: { type: 'object', properties: {} } })),
      },
    ],
  });
});

describe('contents', () => {
  const contents = async (history: readonly HistoryMessage[], model?: string) => {
    const { url, seen } = await fakeWire(streamed(stop));
    await answer(url, history, model);
    return (seen[0]?.body as { contents?: unknown } | undefined)?.contents;
  };
  const history = [
    user('go'),
    assistant('Look.', ['c1', 'read-file'], ['c2', 'read.file']),
    result('c2', '', 'rejected'),
    result('c1', 'a.txt'),
    user('and now?'),
  ];

  test('have results in the order of their calls, apart from other text', async () => {
    expect(await contents(history, 'gemini-2.5-flash')).toEqual([
      { role: 'user', parts: [{ text: 'go' }] },
      {
        role: 'model',
        parts: [
          { text: 'Look.' },
          { functionCall: { id: 'c1', name: 'read_file_2', args: { path: 'x' } } },
          { functionCall: { id: 'c2', name: 'read_file_3', args: { path: 'x' } } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'c1', name: 'read_file_2', response: { output: 'a.txt' } } },
          {
            functionResponse: {
              id: 'c2',
              name: 'read_file_2',
              response: { error: 'The user rejected this call. It did not run.' },
            },
          },
        ],
      },
      { role: 'user', parts: [{ text: 'and now?' }] },
    ]);
  });

  test('mark the first call as without signature, for models that require one', async () => {
    const sent = JSON.stringify(await contents(history));
    expect(sent.match(/skip_thought_signature_validator/g)).toHaveLength(1);
    expect(sent).toMatch(/"c1".{0,80}skip_thought_signature_validator/);
  });

  test('have no message without parts', async () => {
    expect(await contents([user(''), assistant(''), user('again')])).toEqual([
      { role: 'user', parts: [{ text: '(a blank message)' }] },
      { role: 'user', parts: [{ text: 'again' }] },
    ]);
  });
});

test('thoughts are billed and shown apart, and cached tokens are counted separately', async () => {
  const usageMetadata = {
    promptTokenCount: 543,
    cachedContentTokenCount: 40,
    candidatesTokenCount: 5,
    thoughtsTokenCount: 4,
  };
  const { url } = await fakeWire(
    streamed(chunk([{ text: 'Let me see.', thought: true }]), chunk([{ text: 'yes' }]), {
      ...stop,
      usageMetadata,
    }),
  );
  expect(await answer(url)).toEqual([
    { type: 'reasoning', text: 'Let me see.' },
    { type: 'text', text: 'yes' },
    {
      type: 'end',
      end: 'end_turn',
      usage: { inputTokens: 543, outputTokens: 9, cachedInputTokens: 40 },
    },
  ]);
});

test('a call without an id has none', async () => {
  const { url } = await fakeWire(
    streamed(chunk([{ functionCall: { name: 'read_file' } }], { finishReason: 'STOP' })),
  );
  expect(await answer(url)).toMatchObject([
    { type: 'call', name: 'read_file', args: {} },
    { type: 'end', end: 'tool_use' },
  ]);
});

test('a signature with an empty text is sent back with it', async () => {
  const { url, seen } = await fakeWire(
    streamed(chunk([{ text: 'yes' }]), chunk([{ text: '', thoughtSignature: 'c2ln' }]), stop),
    streamed(stop),
  );
  const end = (await answer(url)).at(-1);
  const echo = end?.type === 'end' ? end.providerState : undefined;
  const said = { ...assistant('yes'), ...(echo ? { providerState: echo } : {}) };
  await answer(url, [user('hi'), said]);
  expect(seen[1]?.body).toMatchObject({
    contents: [{}, { role: 'model', parts: [{ text: 'yes' }, { text: '', thoughtSignature: 'c2ln' }] }],
  });
});

describe('an answer ends', () => {
  test.each([
    ['STOP', 'end_turn'],
    ['MAX_TOKENS', 'max_tokens'],
    ['CONTINUATION', 'max_tokens'],
    ['SAFETY', 'refused'],
    ['RECITATION', 'refused'],
    ['PROHIBITED_CONTENT', 'refused'],
    ['A_REASON_OF_TOMORROW', 'end_turn'],
  ])('%s as %s', async (finishReason, end) => {
    const { url, seen } = await fakeWire(streamed(chunk([{ text: 'yes' }], { finishReason })));
    expect((await answer(url)).at(-1)).toMatchObject({ type: 'end', end });
    expect(seen).toHaveLength(1);
  });

  test.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'OTHER'])(
    '%s as an error',
    async (finishReason) => {
      const told = await failure(streamed(chunk([{ text: 'y' }], { finishReason })));
      expect(told.code).toBe('provider_unavailable');
    },
  );

  test('at the end of one request, although it could be continued', async () => {
    const { url, seen } = await fakeWire(
      streamed(chunk([{ text: 'yes' }], { finishReason: 'CONTINUATION', continuationToken: 'on' })),
      streamed(stop),
    );
    expect((await answer(url)).at(-1)).toMatchObject({ type: 'end', end: 'max_tokens' });
    expect(seen).toHaveLength(1);
  });

  test('before it begins when the prompt is blocked', async () => {
    const told = await failure(streamed({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }));
    expect(told).toMatchObject({ code: 'content_refused', tries: 1 });
  });

  test('with the error in its stream', async () => {
    const error = { code: 503, status: 'UNAVAILABLE', message: 'The model is overloaded.' };
    const told = await failure(streamed(chunk([{ text: 'y' }]), { error }));
    expect(told).toMatchObject({ code: 'provider_overloaded', tries: 1 });
  });
});

describe('a refusal has the platform’s message', () => {
  const invalidKey = { details: [{ '@type': 'google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }] };
  test.each([
    [400, { status: 'INVALID_ARGUMENT', message: 'key-test', ...invalidKey }, 'provider_auth_failed'],
    [400, { status: 'INVALID_ARGUMENT', message: 'API key not valid.' }, 'provider_auth_failed'],
    [403, { status: 'PERMISSION_DENIED' }, 'provider_auth_failed'],
    [400, { status: 'FAILED_PRECONDITION', message: 'Please enable billing.' }, 'provider_auth_failed'],
    [429, { status: 'RESOURCE_EXHAUSTED' }, 'provider_rate_limited'],
    [
      400,
      {
        status: 'INVALID_ARGUMENT',
        message: 'The input token count (9) exceeds the maximum number of tokens allowed (8).',
      },
      'context_too_long',
    ],
    [404, { status: 'NOT_FOUND' }, 'invalid_request'],
    [400, { status: 'INVALID_ARGUMENT', message: 'key-test' }, 'internal_error'],
  ])('%i %j is %s', async (status, error, code) => {
    const told = await failure(answered(status, { error: { code: status, ...error } }));
    expect(told).toMatchObject({ code, tries: 1, details: { context: { status, type: error.status } } });
    expect(told.message).not.toContain('key-test');
  });

  test('429 has the time to wait', async () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '16.4s' }];
    const told = await failure(answered(429, { error: { code: 429, details } }));
    expect(told.details).toMatchObject({
      context: { status: 429, retryAfter: '17' },
      suggestions: ['Try again in 17 seconds.'],
    });
  });

  test('an HTML answer of a gateway is unavailable, after a retry', async () => {
    const html: Reply = (response) => response.writeHead(502).end('<html>');
    const { url, seen } = await fakeWire(html, html);
    await expect(answer(url)).rejects.toMatchObject({ code: 'provider_unavailable' });
    expect(seen).toHaveLength(2);
  });

  test.each(['../../v1/files', 'a?key=b', 'a/b', ''])('no path is built from the model %j', async (model) => {
    expect(await failure(streamed(stop), model)).toMatchObject({ code: 'invalid_request', tries: 0 });
  });
});

test('the token count covers the whole request', async () => {
  const { url, seen } = await fakeWire(answered(200, { totalTokens: 42 }));
  const provider = makeGeminiProvider({ apiKey: 'key-test', baseUrl: url });
  expect(await provider.count?.(request([user('hi')]), new AbortController().signal)).toBe(42);
  expect(seen[0]?.url).toBe('/v1beta/models/gemini-3.8-flash:countTokens');
  expect(seen[0]?.body).toMatchObject({
    generateContentRequest: {
      model: 'models/gemini-3.8-flash',
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
    },
  });
  expect(seen[0]?.body).not.toHaveProperty('contents');
});
