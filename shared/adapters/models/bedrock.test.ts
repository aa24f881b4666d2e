/** Bedrock through the AWS SDK against a fake of its binary wire: what is sent, what is read, how failures are named. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { CallId, MessageId } from '#shared/domain/ids.ts';
import type { ModelChunk, ModelRequest } from '#shared/domain/model.ts';
import { makeBedrockProvider } from './bedrock.ts';
import {
  begun,
  type EventReply,
  eventStream,
  eventStreamWire,
  refusal,
} from './fixtures/event-stream-wire.ts';

beforeEach(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
});
afterEach(() => vi.unstubAllEnvs());

const user = (text: string): HistoryMessage => ({ role: 'user', messageId: 'm' as MessageId, text });
const model = 'global.anthropic.claude-opus-5-5';
const request: ModelRequest = {
  ...{ model, system: 'Be brief.', history: [user('hi')], outputTokensMax: 4096 },
  tools: [{ name: 'mcp:read', description: 'Reads.', inputSchema: { type: 'object' } }],
};

const open = async (replies: readonly EventReply[]) => {
  const wire = await eventStreamWire(...replies);
  return { ...wire, provider: makeBedrockProvider({ region: 'eu-central-1', baseUrl: wire.url }) };
};
const ask = async (replies: readonly EventReply[], more: Partial<ModelRequest> = {}) => {
  const { provider, seen } = await open(replies);
  const chunks: ModelChunk[] = [];
  let failure: unknown;
  try {
    for await (const chunk of provider.stream({ ...request, ...more }, new AbortController().signal))
      chunks.push(chunk);
  } catch (error) {
    failure = error;
  }
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever a request holds
  return { chunks, failure, seen, bodies: seen.map(({ body }) => body as any) };
};

const delta = (contentBlockIndex: number, fields: object) => ({
  contentBlockDelta: { contentBlockIndex, delta: fields },
});
const stop = (stopReason: string) => ({ messageStop: { stopReason } });
const usage = {
  metadata: {
    usage: { inputTokens: 3, outputTokens: 7, totalTokens: 10, cacheReadInputTokens: 40 },
    metrics: { latencyMs: 1 },
  },
};
const yes = eventStream(
  { messageStart: { role: 'assistant' } },
  delta(0, { text: 'yes' }),
  stop('end_turn'),
  usage,
);
const texts = (chunks: readonly ModelChunk[], type: 'text' | 'reasoning') =>
  chunks.map((chunk) => (chunk.type === type ? chunk.text : '')).join('');

test('the request names the model in its path, is signed, and has cache points for Claude', async () => {
  const { seen, bodies, chunks } = await ask([yes]);
  expect(seen[0]?.path).toBe(`/model/${model}/converse-stream`);
  expect(seen[0]?.authorization).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-central-1\/bedrock\/aws4_request, /,
  );
  const cachePoint = { cachePoint: { type: 'default' } };
  expect(bodies[0]).toEqual({
    messages: [{ role: 'user', content: [{ text: 'hi' }, cachePoint] }],
    system: [{ text: 'Be brief.' }, cachePoint],
    inferenceConfig: { maxTokens: 4096 },
    toolConfig: {
      tools: [
        {
          toolSpec: {
            name: 'mcp_read',
            description: 'Reads.',
            inputSchema: { json: { type: 'object', properties: {} } },
          },
        },
        cachePoint,
      ],
    },
  });
  expect(chunks).toEqual([
    { type: 'text', text: 'yes' },
    {
      ...{ type: 'end', end: 'end_turn' },
      usage: { inputTokens: 43, outputTokens: 7, cachedInputTokens: 40 },
    },
  ]);
});

const thought = eventStream(
  delta(0, { reasoningContent: { text: 'let ' } }),
  delta(0, { reasoningContent: { text: 'me see' } }),
  delta(0, { reasoningContent: { signature: 'c2ln' } }),
  delta(1, { reasoningContent: { redactedContent: Buffer.from('sealed').toString('base64') } }),
  delta(2, { text: 'Look.' }),
  { contentBlockStart: { contentBlockIndex: 3, start: { toolUse: { toolUseId: 'a', name: 'mcp_read' } } } },
  delta(3, { toolUse: { input: '{"path":' } }),
  delta(3, { toolUse: { input: '"x"}' } }),
  stop('tool_use'),
  usage,
);

test('thoughts are shown, calls arrive whole, and both go back with results and images', async () => {
  const { chunks, bodies: first } = await ask([thought], { thinking: 'low' });
  expect(first[0].additionalModelRequestFields).toEqual({
    thinking: { type: 'adaptive', display: 'summarized' },
    output_config: { effort: 'low' },
  });
  expect([texts(chunks, 'reasoning'), texts(chunks, 'text')]).toEqual(['let me see', 'Look.']);
  const call = { callId: 'a' as CallId, name: 'mcp:read', args: { path: 'x' } };
  expect(chunks.filter(({ type }) => type === 'call')).toEqual([{ type: 'call', ...call }]);
  const end = chunks.at(-1);
  const state = end?.type === 'end' && end.providerState ? { providerState: end.providerState } : {};
  const image = { mimeType: 'image/png', data: 'iVBO' } as const;
  const history: HistoryMessage[] = [
    user('hi'),
    { role: 'assistant', messageId: 'x' as MessageId, text: 'Look.', calls: [call], ...state },
    { role: 'tool', callId: call.callId, name: call.name, text: 'no', outcome: 'failed', images: [image] },
  ];
  const { bodies } = await ask([yes], { history, tools: [] });
  expect(bodies[0].messages[1].content).toEqual([
    { reasoningContent: { reasoningText: { text: 'let me see', signature: 'c2ln' } } },
    { reasoningContent: { redactedContent: Buffer.from('sealed').toString('base64') } },
    { text: 'Look.' },
    { toolUse: { toolUseId: 'a', name: 'mcp_read', input: { path: 'x' } } },
  ]);
  expect(bodies[0].messages[2].content[0].toolResult).toEqual({
    toolUseId: 'a',
    content: [{ text: 'no' }, { image: { format: 'png', source: { bytes: 'iVBO' } } }],
    status: 'error',
  });
  // A history with calls is refused without their tools.
  expect(bodies[0].toolConfig.tools[0].toolSpec.name).toBe('mcp_read');
});

test('another maker’s model has neither cache points nor Claude’s settings', async () => {
  const { bodies } = await ask([yes], { model: 'amazon.nova-pro-v1:0', thinking: 'high' });
  expect(JSON.stringify(bodies[0])).not.toMatch(/cachePoint|thinking|effort/);
});

test('a request that is refused for its thinking is sent again without', async () => {
  const refused = refusal(400, 'ValidationException', 'adaptive thinking is not supported on this model');
  const { bodies, chunks } = await ask([refused, refused, yes], { thinking: 'low' });
  expect(bodies.map((body) => body.additionalModelRequestFields?.thinking)).toEqual([
    { type: 'adaptive', display: 'summarized' },
    { type: 'adaptive' },
    undefined,
  ]);
  expect(texts(chunks, 'text')).toBe('yes');
});

describe('a failure has the platform’s code', () => {
  test.each([
    [429, 'ThrottlingException', 'Too many requests', 'provider_rate_limited'],
    [403, 'AccessDeniedException', 'not authorized', 'provider_auth_failed'],
    [404, 'ResourceNotFoundException', 'no such model', 'invalid_request'],
    [400, 'ValidationException', 'The provided model identifier is invalid.', 'invalid_request'],
    [400, 'ValidationException', 'Input is too long for requested model.', 'context_too_long'],
    [400, 'ValidationException', 'Malformed input request', 'internal_error'],
    [429, 'ModelNotReadyException', 'not ready', 'provider_overloaded'],
  ])('%i %s: %s', async (...[status, name, said, code]) => {
    expect((await ask([refusal(status, name, said)])).failure).toMatchObject({ code });
  });

  test('after one more try of what passes', async () => {
    const down = refusal(503, 'ServiceUnavailableException', 'down');
    const { failure, seen } = await ask([down, down]);
    expect([failure, seen.length]).toMatchObject([{ code: 'provider_overloaded' }, 2]);
  });

  test.each([
    ['throttlingException', { message: 'slow' }, 'provider_rate_limited'],
    ['serviceUnavailableException', { message: 'down' }, 'provider_overloaded'],
    ['modelStreamErrorException', { message: 'x', originalStatusCode: 529 }, 'provider_overloaded'],
    ['internalServerException', { message: 'x' }, 'provider_unavailable'],
  ])('in the middle of a stream: %s', async (name, said, code) => {
    const { chunks, failure } = await ask([eventStream(delta(0, { text: 'The first w' }), { [name]: said })]);
    expect(texts(chunks, 'text')).toBe('The first w');
    expect(failure).toMatchObject({ code });
  });

  test('at the end of an answer without a reason', async () => {
    const { failure } = await ask([eventStream(delta(0, { text: 'The first w' }))]);
    expect(failure).toMatchObject({ code: 'provider_unavailable' });
  });

  test('where no credentials are found', async () => {
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_PROFILE'])
      vi.stubEnv(name, undefined);
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
    vi.stubEnv('AWS_CONFIG_FILE', '/nowhere/config');
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/nowhere/credentials');
    const { failure, seen } = await ask([yes]);
    expect(failure).toMatchObject({ code: 'provider_auth_failed' });
    expect(seen).toEqual([]);
  });
});

test('aborting a silent answer gives the caller’s own reason and closes the connection', async () => {
  const { provider, closed } = await open([begun(delta(0, { text: 'The first w' }))]);
  const leaving = new AbortController();
  const chunks = provider.stream(request, leaving.signal)[Symbol.asyncIterator]();
  expect(await chunks.next()).toMatchObject({ value: { text: 'The first w' } });
  const next = chunks.next();
  leaving.abort(new Error('enough'));
  await expect(next).rejects.toThrow('enough');
  await closed;
});

test('leaving the loop closes the connection', async () => {
  const { provider, closed } = await open([begun(delta(0, { text: 'The first w' }))]);
  for await (const _ of provider.stream(request, new AbortController().signal)) break;
  await closed;
});
