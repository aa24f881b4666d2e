import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { CallId, MessageId } from '#shared/domain/ids.ts';
import type { ModelChunk, ModelRequest } from '#shared/domain/model.ts';
import { isAppError } from '#shared/errors.ts';
import { answered, fakeWire, type Reply, streamed } from './fixtures/fake-wire.ts';
import { makeOpenAiProvider } from './openai.ts';

const gpt = new LLMock({ port: 0, host: '127.0.0.1', chunkSize: 5 });
beforeAll(async () => void (await gpt.start()));
afterAll(async () => gpt.stop());
beforeEach(() => void gpt.clearFixtures().clearRequests());

const user = (text: string): HistoryMessage => ({ role: 'user', messageId: 'm' as MessageId, text });
const request = (history: readonly HistoryMessage[]): ModelRequest => ({
  model: 'gpt-6.1-sol',
  system: 'Be brief.',
  tools: [
    { name: 'list_files', description: 'Lists.', inputSchema: { type: 'object' } },
    { name: 'mcp:read', description: 'Reads.', inputSchema: { type: 'object' } },
    { name: 'mcp_read', description: 'Reads, too.', inputSchema: { type: 'object' } },
  ],
  history,
  outputTokensMax: 100,
});
const open = (baseUrl: string) => makeOpenAiProvider({ apiKey: 'sk-test', baseUrl });
const answer = async (baseUrl: string, history: readonly HistoryMessage[] = [user('hi')]) =>
  Array.fromAsync(open(baseUrl).stream(request(history), new AbortController().signal));
const failure = async (reply: Reply) => {
  const { url, seen } = await fakeWire(reply);
  const error: unknown = await answer(url).catch((thrown: unknown) => thrown);
  if (!isAppError(error)) throw new Error('no AppError', { cause: error });
  return { code: error.code, message: error.message, details: error.details, tries: seen.length };
};

const delta = (text: string) => ({ type: 'response.output_text.delta', delta: text });
const called = (id: string, json: string, status = 'completed') => ({
  type: 'response.output_item.done',
  item: { type: 'function_call', call_id: id, name: 'mcp_read_2', arguments: json, status },
});
const completed = { type: 'response.completed', response: { status: 'completed' } };
const incomplete = (reason: string) => ({
  type: 'response.incomplete',
  response: { status: 'incomplete', incomplete_details: { reason } },
});

describe('against a complete fake server', () => {
  test('the text comes whole, then the end with the cost', async () => {
    gpt.onMessage('hello', { content: 'Hello, you!', usage: { input_tokens: 12, output_tokens: 4 } });
    const chunks = await answer(`${gpt.url}/v1`, [user('hello')]);
    expect(chunks.map((chunk) => (chunk.type === 'text' ? chunk.text : '')).join('')).toBe('Hello, you!');
    expect(chunks.at(-1)).toEqual({
      ...{ type: 'end', end: 'end_turn', usage: { inputTokens: 12, outputTokens: 4 } },
      // Its reasoning comes encrypted, since the request includes it.
      providerState: expect.objectContaining({
        parts: [{ own: expect.objectContaining({ type: 'reasoning' }) }, { text: 11 }],
      }),
    });
  });

  test('parallel calls arrive whole, under the platform’s tool names', async () => {
    gpt.onMessage('look', {
      content: 'Looking.',
      toolCalls: [
        { id: 'call_1', name: 'list_files', arguments: '{"path":"src"}' },
        { id: 'call_2', name: 'mcp_read_2', arguments: '{}' },
        { id: 'call_3', name: 'mcp_read', arguments: '{}' },
      ],
    });
    const chunks = await answer(`${gpt.url}/v1`, [user('look')]);
    expect(chunks.filter(({ type }) => type !== 'text')).toMatchObject([
      { type: 'call', callId: 'call_1', name: 'list_files', args: { path: 'src' } },
      { type: 'call', callId: 'call_2', name: 'mcp:read', args: {} },
      { type: 'call', callId: 'call_3', name: 'mcp_read', args: {} },
      { type: 'end', end: 'tool_use', usage: { inputTokens: 0, outputTokens: 0 } },
    ]);
  });

  test('results are sent after their calls', async () => {
    gpt.onToolResult('call_1', { content: 'Two files.' });
    const call = { callId: 'call_1' as CallId, name: 'mcp:read', args: { path: 'src' } };
    await answer(`${gpt.url}/v1`, [
      user('look'),
      { role: 'assistant', messageId: 'a' as MessageId, text: '', calls: [call] },
      { role: 'tool', callId: call.callId, name: 'mcp:read', text: 'a b', outcome: 'completed' },
    ]);
    expect(gpt.getLastRequest()?.body).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'look' },
        { role: 'assistant', tool_calls: [{ id: 'call_1', function: { name: 'mcp_read_2' } }] },
        { role: 'tool', content: 'a b', tool_call_id: 'call_1' },
      ],
    });
  });

  test.each([
    [401, 'provider_auth_failed'],
    [429, 'provider_rate_limited'],
    [503, 'provider_overloaded'],
    [529, 'provider_overloaded'],
    [500, 'provider_unavailable'],
  ])('the status %i is %s', async (status, code) => {
    gpt.onMessage('hello', { error: { message: 'no' }, status });
    await expect(answer(`${gpt.url}/v1`, [user('hello')])).rejects.toMatchObject({ code });
  });
});

test('the request is not stored and names the included data', async () => {
  const { url, seen } = await fakeWire(streamed(delta('yes'), completed));
  await answer(url, [user(' '), { role: 'assistant', messageId: 'a' as MessageId, text: ' ', calls: [] }]);
  expect(seen[0]?.url).toBe('/responses');
  expect(seen[0]?.headers.authorization).toBe('Bearer sk-test');
  expect(seen[0]?.body).toEqual({
    model: 'gpt-6.1-sol',
    instructions: 'Be brief.',
    input: [{ role: 'user', content: '(a blank message)' }],
    tools: [
      { name: 'list_files', description: 'Lists.' },
      { name: 'mcp_read_2', description: 'Reads.' },
      { name: 'mcp_read', description: 'Reads, too.' },
    ].map((tool) => ({
      type: 'function',
      ...tool,
      parameters: { type: 'object', properties: {} },
      strict: false,
    })),
    include: ['reasoning.encrypted_content'],
    max_output_tokens: 100,
    store: false,
    stream: true,
  });
});

test('tokens read from and written to the cache are counted separately', async () => {
  const usage = {
    input_tokens: 543,
    input_tokens_details: { cached_tokens: 40, cache_write_tokens: 500 },
    output_tokens: 9,
  };
  const { url } = await fakeWire(
    streamed({ type: 'response.completed', response: { status: 'completed', usage } }),
  );
  expect(await answer(url)).toEqual([
    {
      type: 'end',
      end: 'end_turn',
      usage: { inputTokens: 543, outputTokens: 9, cachedInputTokens: 40, cacheWriteInputTokens: 500 },
    },
  ]);
});

test('reasoning without an answer is not sent back', async () => {
  const thought = (id: string) => ({
    type: 'response.output_item.done',
    item: { type: 'reasoning', id, summary: [], encrypted_content: `of ${id}` },
  });
  const { url, seen } = await fakeWire(
    streamed(thought('rs_1'), called('c1', '{}'), thought('rs_2'), incomplete('max_output_tokens')),
    streamed(completed),
  );
  const end = (await answer(url)).at(-1);
  const calls = [{ callId: 'c1' as CallId, name: 'mcp:read', args: {} }];
  const providerState =
    end?.type === 'end' && end.providerState !== undefined ? { providerState: end.providerState } : {};
  await answer(url, [
    user('hi'),
    { role: 'assistant', messageId: 'a' as MessageId, text: '', calls, ...providerState },
    { role: 'tool', callId: 'c1' as CallId, name: 'mcp:read', text: 'a', outcome: 'completed' },
  ]);
  expect(seen[1]?.body).toMatchObject({
    input: [
      { role: 'user' },
      { type: 'reasoning', id: 'rs_1', encrypted_content: 'of rs_1' },
      { type: 'function_call', call_id: 'c1' },
      { type: 'function_call_output', call_id: 'c1' },
    ],
  });
});

describe('an answer ends', () => {
  const endOf = async (...events: object[]): Promise<ModelChunk | undefined> => {
    const { url } = await fakeWire(streamed(delta('yes'), ...events));
    return (await answer(url)).at(-1);
  };

  test.each([
    ['max_output_tokens', 'max_tokens'],
    ['content_filter', 'refused'],
    ['a reason of tomorrow', 'max_tokens'],
  ])('incomplete for %s as %s', async (reason, end) => {
    expect(await endOf(incomplete(reason))).toMatchObject({ type: 'end', end });
  });

  test('as refused when the model refuses, with its message', async () => {
    const { url } = await fakeWire(
      streamed({ type: 'response.refusal.delta', delta: 'I will not.' }, completed),
    );
    expect(await answer(url)).toMatchObject([
      { type: 'text', text: 'I will not.' },
      { type: 'end', end: 'refused' },
    ]);
  });

  test('at the output limit without the call it was writing', async () => {
    const { url } = await fakeWire(
      streamed(called('c1', '{"a":1}'), called('c2', '{"a":', 'incomplete'), incomplete('max_output_tokens')),
    );
    expect(await answer(url)).toMatchObject([
      { type: 'call', callId: 'c1', name: 'mcp:read', args: { a: 1 } },
      { end: 'max_tokens' },
    ]);
  });

  test('with arguments that are not an object, unchanged', async () => {
    const { url } = await fakeWire(streamed(called('c1', '[1]'), called('c2', ''), completed));
    expect(await answer(url)).toMatchObject([
      { args: { arguments_not_json: '[1]' } },
      { args: {} },
      { end: 'tool_use' },
    ]);
  });

  test.each([
    ['rate_limit_exceeded', 'provider_rate_limited'],
    ['server_error', 'provider_unavailable'],
    ['invalid_prompt', 'content_refused'],
    ['bio_policy', 'content_refused'],
    ['a code of tomorrow', 'provider_unavailable'],
  ])('failed with %s as %s', async (code, ours) => {
    const error = { code, message: 'sk-secret' };
    const failed = await failure(streamed(delta('y'), { type: 'response.failed', response: { error } }));
    expect(failed).toMatchObject({ code: ours, tries: 1 });
    expect(failed.message).not.toContain('sk-');
    const event = { type: 'error', code, message: 'sk-secret', param: null };
    expect(await failure(streamed(delta('y'), event))).toMatchObject({ code: ours, tries: 1 });
    const unnamed: Reply = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: ${JSON.stringify(event)}\n\n`);
    };
    expect(await failure(unnamed)).toMatchObject({ code: ours, tries: 1 });
  });
});

describe('a refusal has the platform’s message', () => {
  test.each([
    [401, { code: 'invalid_api_key' }, 'provider_auth_failed'],
    [403, {}, 'provider_auth_failed'],
    [429, { code: 'insufficient_quota' }, 'provider_auth_failed'],
    [429, { code: 'rate_limit_exceeded' }, 'provider_rate_limited'],
    [400, { code: 'context_length_exceeded' }, 'context_too_long'],
    [400, { message: "This model's maximum context length is 9 tokens" }, 'context_too_long'],
    [413, {}, 'context_too_long'],
    [400, { code: 'content_policy_violation' }, 'content_refused'],
    [404, { code: 'model_not_found' }, 'invalid_request'],
    [400, { code: 'model_not_found' }, 'invalid_request'],
    [400, { message: 'sk-secret' }, 'internal_error'],
  ])('%i %j is %s', async (status, error, code) => {
    const told = await failure(answered(status, { error }, { 'x-request-id': 'req_1' }));
    expect(told).toMatchObject({ code, tries: 1, details: { context: { status, requestId: 'req_1' } } });
    expect(told.message).not.toContain('sk-');
  });

  test('429 has the time to wait', async () => {
    const told = await failure(answered(429, { error: {} }, { 'retry-after': '17' }));
    expect(told.details).toMatchObject({
      context: { status: 429, retryAfter: '17' },
      suggestions: ['Try again in 17 seconds.'],
    });
  });

  test('a status without a body is sufficient', async () => {
    expect(await failure((response) => void response.writeHead(401).end())).toMatchObject({
      code: 'provider_auth_failed',
    });
  });

  test('a transient error is retried once, unless it has a time to wait', async () => {
    const { url, seen } = await fakeWire(answered(500, {}), streamed(delta('yes'), completed));
    expect((await answer(url))[0]).toEqual({ type: 'text', text: 'yes' });
    expect(seen).toHaveLength(2);
    expect(await failure(answered(503, {}, { 'retry-after': '30' }))).toMatchObject({
      code: 'provider_overloaded',
      tries: 1,
    });
  });
});
