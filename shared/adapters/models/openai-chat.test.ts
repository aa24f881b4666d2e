/** The chat completions wire through the real SDK: what is sent, and the answers of servers that differ from each other. */
import { describe, expect, test } from 'vitest';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { CallId, MessageId } from '#shared/domain/ids.ts';
import type { ModelChunk, ModelRequest } from '#shared/domain/model.ts';
import { answered, fakeWire, type Reply, streamed } from './fixtures/fake-wire.ts';
import { makeModelProviders } from './model-providers.ts';
import { makeOpenAiProvider } from './openai.ts';
import { modelAccess } from './provider-access.ts';

const user = (text: string): HistoryMessage => ({ role: 'user', messageId: 'm' as MessageId, text });
const request: ModelRequest = {
  ...{ model: 'qwen3:8b', system: 'Be brief.', history: [user('hi')], outputTokensMax: 100 },
  tools: [{ name: 'mcp:read', description: 'Reads.', inputSchema: { type: 'object' } }],
};
const ask = async (replies: readonly Reply[], more: Partial<ModelRequest> = {}) => {
  const { url, seen } = await fakeWire(...replies);
  const provider = makeOpenAiProvider({ apiKey: 'k', baseUrl: `${url}/v1`, api: 'chat' });
  const chunks: ModelChunk[] = [];
  const failure = await (async () => {
    for await (const chunk of provider.stream({ ...request, ...more }, new AbortController().signal))
      chunks.push(chunk);
  })().catch((error: unknown) => error);
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever a request holds
  return { chunks, failure, seen, bodies: seen.map(({ body }) => body as any) };
};

const delta = (fields: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: fields, finish_reason }],
});
const called = (fields: object) => delta({ tool_calls: [fields] });
const done = (reason: string) => delta({}, reason);
const usage = { choices: [], usage: { prompt_tokens: 12, completion_tokens: 4 } };
const calls = (chunks: readonly ModelChunk[]) => chunks.filter(({ type }) => type === 'call');
const texts = (chunks: readonly ModelChunk[], type: 'text' | 'reasoning') =>
  chunks.map((chunk) => (chunk.type === type ? chunk.text : '')).join('');

test('the request goes to the chat endpoint, asks for the usage and has the server’s tool names', async () => {
  const { seen, bodies, chunks } = await ask([
    streamed(delta({ role: 'assistant', content: '' }), delta({ content: 'yes' }), done('stop'), usage),
  ]);
  expect(seen[0]?.url).toBe('/v1/chat/completions');
  expect(bodies[0]).toEqual({
    model: 'qwen3:8b',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hi' },
    ],
    tools: [
      {
        type: 'function',
        function: { name: 'mcp_read', description: 'Reads.', parameters: { type: 'object', properties: {} } },
      },
    ],
    max_tokens: 100,
    stream: true,
    stream_options: { include_usage: true },
  });
  expect(chunks).toEqual([
    { type: 'text', text: 'yes' },
    { type: 'end', end: 'end_turn', usage: { inputTokens: 12, outputTokens: 4 } },
  ]);
});

describe('calls', () => {
  test('come in pieces by their index', async () => {
    const { chunks } = await ask([
      streamed(
        called({ index: 0, id: 'a', function: { name: 'mcp_read', arguments: '' } }),
        called({ index: 1, id: 'b', function: { name: 'mcp_read', arguments: '{"n"' } }),
        called({ index: 0, function: { arguments: '{"path":' } }),
        called({ index: 1, function: { arguments: ':2}' } }),
        called({ index: 0, function: { arguments: '"x"}' } }),
        done('tool_calls'),
      ),
    ]);
    expect(calls(chunks)).toEqual([
      { type: 'call', callId: 'a', name: 'mcp:read', args: { path: 'x' } },
      { type: 'call', callId: 'b', name: 'mcp:read', args: { n: 2 } },
    ]);
    expect(chunks.at(-1)).toMatchObject({ end: 'tool_use', usage: { inputTokens: 0, outputTokens: 0 } });
  });

  test.each([
    [
      'the same index',
      [
        { index: 0, id: 'a' },
        { index: 0, id: 'b' },
      ],
      ['a', 'b'],
    ],
    ['no index', [{ id: 'a' }, { id: 'b' }], ['a', 'b']],
    ['no id', [{ index: 0 }, { index: 1 }], [undefined, undefined]],
    ['neither', [{}, {}], [undefined, undefined]],
  ])('with %s are two, and end with a plain stop', async (_title, heads, ids) => {
    const whole = heads.map((head, n) =>
      called({ ...head, function: { name: 'mcp_read', arguments: JSON.stringify({ n }) } }),
    );
    const { chunks } = await ask([streamed(...whole, done('stop'))]);
    expect(calls(chunks)).toMatchObject(ids.map((_, n) => ({ name: 'mcp:read', args: { n } })));
    expect(calls(chunks).map((call) => call.type === 'call' && call.callId)).toEqual(ids);
    expect(chunks.at(-1)).toMatchObject({ end: 'tool_use' });
  });

  test.each([
    ['an id', { index: 0, id: 'a' }],
    ['an index', { index: 0 }],
  ])('whose pieces each have the name, with %s, are one', async (_, head) => {
    const pieces = ['', '{"path":', '"x"}', ''].map((json) =>
      called({ ...head, function: { name: 'mcp_read', arguments: json } }),
    );
    const { chunks } = await ask([streamed(...pieces, done('tool_calls'))]);
    expect(calls(chunks)).toMatchObject([{ name: 'mcp:read', args: { path: 'x' } }]);
  });

  test('may have a name in pieces', async () => {
    const pieces = ['mcp_', 're', 'ad'].map((name) =>
      called({ index: 0, id: 'a', function: { name, arguments: '' } }),
    );
    const { chunks } = await ask([streamed(...pieces, done('tool_calls'))]);
    expect(calls(chunks)).toMatchObject([{ name: 'mcp:read', args: {} }]);
  });

  test('that the output limit cut off do not run', async () => {
    const { chunks } = await ask([
      streamed(
        called({ index: 0, id: 'a', function: { name: 'mcp_read', arguments: '{}' } }),
        called({ index: 1, id: 'b', function: { name: 'mcp_read', arguments: '{"path"' } }),
        done('length'),
      ),
    ]);
    expect(calls(chunks)).toMatchObject([{ callId: 'a' }]);
    expect(chunks.at(-1)).toMatchObject({ end: 'max_tokens' });
  });

  test('go back with their results, and images after all of them', async () => {
    const asked = ['a', 'b'].map((id) => ({ callId: id as CallId, name: 'mcp:read', args: { id } }));
    const image = { mimeType: 'image/png', data: 'iVBO' } as const;
    const result = (callId: CallId, more: object = {}): HistoryMessage => ({
      ...{ role: 'tool', callId, name: 'mcp:read', text: `of ${callId}`, outcome: 'completed', ...more },
    });
    const history: HistoryMessage[] = [
      user('look'),
      { role: 'assistant', messageId: 'x' as MessageId, text: '', calls: asked },
      result('a' as CallId, { images: [image] }),
      result('b' as CallId),
    ];
    const { bodies } = await ask([streamed(delta({ content: 'yes' }), done('stop'))], { history });
    const call = (id: string) => ({
      ...{ id, type: 'function' },
      function: { name: 'mcp_read', arguments: `{"id":"${id}"}` },
    });
    expect(bodies[0].messages.slice(2)).toEqual([
      { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] },
      { role: 'tool', tool_call_id: 'a', content: 'of a' },
      { role: 'tool', tool_call_id: 'b', content: 'of b' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'The images of the results above:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } },
        ],
      },
    ]);
  });
});

describe('thoughts', () => {
  test.each(['reasoning_content', 'reasoning'])(
    'in %s are shown apart, and go back while tools run',
    async (field) => {
      const first = await ask([
        streamed(
          delta({ [field]: 'let ' }),
          delta({ [field]: 'me see' }),
          delta({ content: 'Look.' }),
          called({ index: 0, id: 'a', function: { name: 'mcp_read', arguments: '{}' } }),
          done('tool_calls'),
        ),
      ]);
      expect([texts(first.chunks, 'reasoning'), texts(first.chunks, 'text')]).toEqual([
        'let me see',
        'Look.',
      ]);
      const end = first.chunks.at(-1);
      const state = end?.type === 'end' && end.providerState ? { providerState: end.providerState } : {};
      const call = { callId: 'a' as CallId, name: 'mcp:read', args: {} };
      const answer: HistoryMessage = {
        ...{ role: 'assistant', messageId: 'x' as MessageId, text: 'Look.', calls: [call], ...state },
      };
      const history: HistoryMessage[] = [
        user('hi'),
        answer,
        { role: 'tool', callId: call.callId, name: 'mcp:read', text: 'x', outcome: 'completed' },
      ];
      const yes = streamed(delta({ content: 'yes' }), done('stop'));
      const { bodies } = await ask([yes], { history });
      expect(bodies[0].messages[2]).toMatchObject({ content: 'Look.', [field]: 'let me see' });
      const later = await ask([yes], { history: [...history, user('and now?')] });
      expect(later.bodies[0].messages[2]).not.toHaveProperty(field);
    },
  );

  test('a server that gives both fields is shown once', async () => {
    const { chunks } = await ask([
      streamed(delta({ reasoning_content: 'hm', reasoning: 'hm' }), delta({ content: 'yes' }), done('stop')),
    ]);
    expect(texts(chunks, 'reasoning')).toBe('hm');
  });

  test('that come as parts of the content are shown apart, as Mistral gives them', async () => {
    const thinking = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] });
    const { chunks, failure } = await ask([
      streamed(
        delta({ content: [thinking('let ')] }),
        delta({ content: [thinking('me see'), { type: 'text', text: 'Lo' }, { type: 'reference' }, null] }),
        delta({ content: 'ok.' }),
        done('stop'),
      ),
    ]);
    expect(failure).toBeUndefined();
    expect([texts(chunks, 'reasoning'), texts(chunks, 'text')]).toEqual(['let me see', 'Look.']);
  });

  test('have an effort, which a model may refuse', async () => {
    const refused = answered(400, { error: { message: '"qwen3:8b" does not support thinking' } });
    const yes = streamed(delta({ content: 'yes' }), done('stop'));
    const { bodies, chunks } = await ask([refused, refused, yes], { thinking: 'high' });
    expect(bodies.map((body) => body.reasoning_effort)).toEqual(['high', 'high', undefined]);
    expect(texts(chunks, 'text')).toBe('yes');
  });
});

describe('images that the user showed', () => {
  const image = { mimeType: 'image/png', data: 'iVBO' } as const;
  const history: readonly HistoryMessage[] = [
    { role: 'user', messageId: 'm' as MessageId, text: 'what is this?', images: [image] },
  ];
  const yes = streamed(delta({ content: 'yes' }), done('stop'));

  test.each([
    ['vLLM', 400, 'This model does not support multimodal inputs'],
    ['OpenRouter', 404, 'No endpoints found that support image input'],
    ['a server that takes texts alone', 422, 'Input should be a valid string'],
    ['llama.cpp', 500, 'image input is not supported - hint: you may need to provide the mmproj'],
  ])('are left out where %s refuses them with %d', async (_, status, message) => {
    const refused = answered(status, { error: { message } });
    const { bodies, chunks } = await ask([...(status < 500 ? [refused] : [refused, refused]), yes], {
      history,
    });
    expect(bodies.at(0).messages.at(-1).content).toHaveLength(2);
    expect(bodies.at(-1).messages.at(-1)).toEqual({ role: 'user', content: 'what is this?' });
    expect(texts(chunks, 'text')).toBe('yes');
  });

  test('say nothing about a model that does not exist', async () => {
    const missing = answered(404, {
      error: { message: 'model "qwen3:8b" not found', code: 'model_not_found' },
    });
    const { failure, seen } = await ask([missing], { history });
    expect(failure).toMatchObject({ code: 'invalid_request' });
    expect(seen).toHaveLength(1);
  });
});

test('fields that a server sends empty are none', async () => {
  const { chunks, failure } = await ask([
    streamed(
      delta({ content: 'ye', tool_calls: null, refusal: null }, ''),
      called({ index: 0, id: 'a', function: { name: 'mcp_read', arguments: null } }),
      called({ index: 0, id: null, function: { name: null, arguments: '{}' } }),
      delta({ content: null, tool_calls: null }, 'stop'),
    ),
  ]);
  expect(failure).toBeUndefined();
  expect(calls(chunks)).toEqual([{ type: 'call', callId: 'a', name: 'mcp:read', args: {} }]);
});

test('an empty reason is no end', async () => {
  const { failure } = await ask([streamed(delta({ content: 'The first w' }, ''))]);
  expect(failure).toMatchObject({ code: 'provider_unavailable' });
});

test('an event of another shape is a failure of the server, after the text before it', async () => {
  const { chunks, failure } = await ask([
    streamed(delta({ content: 'The first w' }), delta({ tool_calls: [null] })),
  ]);
  expect(texts(chunks, 'text')).toBe('The first w');
  expect(failure).toMatchObject({ code: 'provider_unavailable' });
});

test('an answer without an end is reported', async () => {
  const { failure } = await ask([streamed(delta({ content: 'The first w' }))]);
  expect(failure).toMatchObject({ code: 'provider_unavailable' });
});

test.each([
  [{ type: 'overloaded_error', message: 'Overloaded' }],
  [{ code: 529, message: 'Overloaded' }],
  [{ code: 'server_is_overloaded', message: 'Overloaded' }],
])('an overload in the middle of a stream is one: %j', async (error) => {
  const { chunks, failure } = await ask([streamed(delta({ content: 'The first w' }), { error })]);
  expect(texts(chunks, 'text')).toBe('The first w');
  expect(failure).toMatchObject({ code: 'provider_overloaded' });
});

test('what a server read from its cache and wrote to it is part of the input', async () => {
  const prompt_tokens_details = { cached_tokens: 40, cache_write_tokens: 500 };
  const { chunks } = await ask([
    streamed(done('stop'), {
      choices: [],
      usage: { prompt_tokens: 543, completion_tokens: 9, prompt_tokens_details },
    }),
  ]);
  expect(chunks.at(-1)).toMatchObject({
    usage: { inputTokens: 543, outputTokens: 9, cachedInputTokens: 40, cacheWriteInputTokens: 500 },
  });
});

test.each([
  'request (9001 tokens) exceeds the available context size (4096 tokens), try increasing it',
  "This model's maximum context length is 4096 tokens.",
  'The input token count exceeds the maximum number of tokens allowed (4096).',
  'prompt is too long: 9001 tokens > 4096 maximum',
])('a conversation that is too long is one, refused or in the middle of a stream: %s', async (message) => {
  const refused = await ask([answered(400, { error: { message, code: 400 } })]);
  expect(refused.failure).toMatchObject({ code: 'context_too_long' });
  const broken = await ask([streamed({ error: { message, code: 400 } })]);
  expect(broken.failure).toMatchObject({ code: 'context_too_long' });
});

test('a refused answer is one', async () => {
  const { chunks } = await ask([streamed(delta({ refusal: 'No.' }), done('stop'))]);
  expect(chunks.at(-1)).toMatchObject({ end: 'refused' });
});

test('OpenAI’s own models are told their limit by its newer name', async () => {
  const { bodies } = await ask([streamed(done('stop'))], { model: 'gpt-6.1-sol' });
  expect(bodies[0]).toMatchObject({ max_completion_tokens: 100 });
  expect(bodies[0]).not.toHaveProperty('max_tokens');
});

test('a server of the operator’s own needs no key', async () => {
  const { url, seen } = await fakeWire(answered(200, { object: 'list', data: [{ id: 'qwen3:8b' }] }));
  const access = modelAccess({ OPENAI_API: 'chat', OPENAI_BASE_URL: url }, async (value) => value);
  const provider = await makeModelProviders(access).open('openai');
  expect(await provider.listModels()).toEqual([{ id: 'qwen3:8b', name: 'qwen3:8b' }]);
  expect(seen[0]?.headers.authorization).toBe('Bearer none');
});
