/** Requests of programs to models: the paths, the bounds that they are given, and all that is no call of a model (BR1, BR4). */
import { describe, expect, test } from 'vitest';
import type { BrokerProvider, Fields } from './provider.ts';
import { readBrokerCall } from './request.ts';

type Asked = readonly [provider: BrokerProvider, path: string, body: unknown];
const read = (...[provider, path, body]: Asked) =>
  readBrokerCall({ provider, path, body, method: 'POST', outputTokensMax: 1000 });
const paths = {
  anthropic: '/v1/messages',
  openai: '/v1/responses',
  gemini: '/v1beta/models/m-1:generateContent',
} as const;
const refusal = (provider: BrokerProvider, body: Fields) => {
  const answer = read(provider, paths[provider], { model: 'm-1', ...body });
  return answer.ok ? undefined : answer.refusal;
};

describe('a call', () => {
  test.each([
    ['anthropic', '/v1/messages?beta=true', {}, '/v1/messages', { max_tokens: 1000 }],
    ['anthropic', '/v1/messages', { max_tokens: 7 }, '/v1/messages', { max_tokens: 7 }],
    ['openai', '/v1/responses', {}, '/responses', { max_output_tokens: 1000, store: false }],
    [
      'openai',
      '/responses',
      { store: true, max_output_tokens: 9999 },
      '/responses',
      { max_output_tokens: 1000, store: false },
    ],
    ['openai', '/chat/completions', { n: 5 }, '/chat/completions', { n: 1, max_completion_tokens: 1000 }],
    ['openai', '/v1/chat/completions', { max_tokens: 9 }, '/chat/completions', { n: 1, max_tokens: 9 }],
  ] as const)('of %s at %s is bounded', (...row) => {
    const [provider, path, body, sentTo, sent] = row;
    const answer = read(provider, path, { model: 'm-1', ...body });
    expect(answer).toEqual({
      ok: true,
      call: expect.objectContaining({ path: sentTo, isStreamed: false, body: { model: 'm-1', ...sent } }),
    });
  });

  test('of gemini has its model in the path, and one candidate', () => {
    const body = { contents: 'x', generationConfig: { candidateCount: 8, temperature: 0 } };
    expect(read('gemini', '/v1/models/m-1:streamGenerateContent?key=mine&alt=sse', body)).toEqual({
      ok: true,
      call: {
        ...{ provider: 'gemini', path: '/v1/models/m-1:streamGenerateContent?alt=sse', model: 'm-1' },
        ...{ isCount: false, isStreamed: true, outputTokensMax: 1000 },
        body: {
          contents: 'x',
          generationConfig: { candidateCount: 1, temperature: 0, maxOutputTokens: 1000 },
        },
      },
    });
  });

  test('of gemini is bounded in both spellings of its fields', () => {
    const body = {
      generationConfig: { candidateCount: 8, max_output_tokens: 9999, candidate_count: 8 },
      generation_config: { temperature: 0, max_output_tokens: 70, candidateCount: 8 },
    };
    expect(read('gemini', paths.gemini, body)).toMatchObject({
      call: {
        outputTokensMax: 1000,
        body: { generationConfig: { temperature: 0, candidateCount: 1, maxOutputTokens: 1000 } },
      },
    });
    const answer = read('gemini', paths.gemini, body);
    expect(answer.ok && JSON.stringify(answer.call.body)).not.toMatch(/_|8/);
    const short = { generation_config: { max_output_tokens: 70 } };
    expect(read('gemini', paths.gemini, short)).toMatchObject({
      call: { outputTokensMax: 70, body: { generationConfig: { candidateCount: 1, maxOutputTokens: 70 } } },
    });
  });

  test('that is streamed over the older wire says what it used', () => {
    const answer = read('openai', '/chat/completions', { model: 'm', stream: true });
    expect(answer).toMatchObject({
      call: { isStreamed: true, body: { stream_options: { include_usage: true } } },
    });
  });

  test('of anthropic keeps its caches for the time that their price is for', () => {
    const own = { cache_control: { ttl: '1h' } };
    const marked = (cache_control: object) => ({
      cache_control,
      system: [{ type: 'text', text: 's', cache_control }],
      tools: [{ name: 'f', input_schema: { properties: own }, cache_control }],
      messages: [{ role: 'user', content: [{ type: 'tool_use', input: own, cache_control }] }],
    });
    const sent = read('anthropic', paths.anthropic, {
      model: 'm',
      ...marked({ type: 'ephemeral', ttl: '1h' }),
    });
    expect(sent).toMatchObject({ ok: true });
    expect(sent.ok && sent.call.body).toEqual({
      ...{ model: 'm', max_tokens: 1000 },
      ...marked({ type: 'ephemeral' }),
    });
  });

  test('of openai keeps its caches for the time that their price is for', () => {
    const marked = (breakpoint: object, options: object) => ({
      prompt_cache_options: options,
      input: [
        { content: [{ type: 'input_text', text: 'x', prompt_cache_breakpoint: breakpoint }] },
        { type: 'function_call', arguments: '{"ttl":"12h"}' },
      ],
    });
    const [breakpoint, options] = [{ mode: 'explicit' }, { mode: 'implicit' }];
    const given = marked({ ...breakpoint, ttl: '12h' }, { ...options, ttl: '12h' });
    const sent = read('openai', paths.openai, { model: 'm', ...given });
    expect(sent.ok && sent.call.body).toEqual({
      ...{ model: 'm', max_output_tokens: 1000, store: false },
      ...marked(breakpoint, options),
    });
  });

  test('that counts tokens is sent as it is', () => {
    const answer = read('anthropic', '/v1/messages/count_tokens', { model: 'm', messages: [] });
    expect(answer).toMatchObject({
      call: { isCount: true, outputTokensMax: 0, body: { model: 'm', messages: [] } },
    });
  });
});

describe('it is refused', () => {
  test.each([
    ['anthropic', '/v1/files'],
    ['anthropic', '/v1/messages/batches'],
    ['openai', '/v1/files'],
    ['openai', '//evil.example.org/v1/responses'],
    ['gemini', '/v1beta/models/m:streamGenerateContent'],
    ['gemini', '/v1beta/models/a/b:generateContent'],
    ['gemini', '/v1beta/models/m:predict'],
  ] as const)('%s at %s is no path', (provider, path) => {
    expect(read(provider, path, { model: 'm' })).toMatchObject({ ok: false, refusal: { status: 404 } });
  });

  test.each([
    ['no body', undefined],
    ['a list', []],
    ['no model', {}],
    ['a model of other characters', { model: 'a b' }],
  ] as const)('for %s', (_, body) => {
    expect(read('anthropic', '/v1/messages', body)).toMatchObject({ ok: false, refusal: { status: 400 } });
  });

  test('for another method', () => {
    const request = { provider: 'anthropic', path: '/v1/messages', method: 'GET', body: {} } as const;
    expect(readBrokerCall({ ...request, outputTokensMax: 1 })).toMatchObject({ refusal: { status: 404 } });
  });

  const image = (source: Fields) => ({ messages: [{ content: [{ type: 'image', source }] }] });
  test.each<readonly [BrokerProvider, Fields]>([
    ['anthropic', { mcp_servers: [{ url: 'https://x' }] }],
    ['anthropic', { tools: [{ type: 'web_fetch_20250910', name: 'f' }] }],
    ['anthropic', { tools: [{ type: 'code_execution_20250825', name: 'f' }] }],
    ['anthropic', { tools: {} }],
    ['anthropic', { speed: 'fast' }],
    ['anthropic', image({ type: 'url', url: 'https://x' })],
    ['anthropic', image({ type: 'file', file_id: 'f' })],
    ['openai', { background: true }],
    ['openai', { previous_response_id: 'r' }],
    ['openai', { service_tier: 'priority' }],
    ['openai', { tools: [{ type: 'web_search' }] }],
    ['openai', { tools: [{ type: 'mcp', server_url: 'https://x' }] }],
    ['openai', { input: [{ content: [{ type: 'input_image', image_url: 'https://x' }] }] }],
    ['openai', { input: [{ content: [{ type: 'input_file', file_url: 'https://x' }] }] }],
    ['gemini', { tools: [{ urlContext: {} }] }],
    ['gemini', { cachedContent: 'c' }],
    ['gemini', { cached_content: 'c' }],
    ['gemini', { contents: [{ parts: [{ fileData: { fileUri: 'https://x' } }] }] }],
  ])('%s for more than an answer: %j', (provider, body) => {
    expect(refusal(provider, body)).toMatchObject({ status: 403 });
  });

  test('when it is nested too deeply to be judged', () => {
    let body: Fields = {};
    for (let depth = 0; depth < 40; depth += 1) body = { body };
    expect(refusal('anthropic', body)?.message).toContain('nested too deeply');
  });
});

test.each<readonly [BrokerProvider, Fields]>([
  [
    'anthropic',
    { tools: [{ name: 'f', input_schema: { properties: { file_url: {} } } }, { type: 'bash_20250124' }] },
  ],
  ['anthropic', { messages: [{ content: [{ type: 'tool_use', input: { image_url: 'https://x' } }] }] }],
  ['openai', { tools: [{ type: 'function', name: 'f' }], service_tier: 'auto' }],
  ['openai', { input: [{ content: [{ type: 'input_image', image_url: 'data:image/png;base64,AA' }] }] }],
  ['gemini', { tools: [{ functionDeclarations: [{ name: 'f' }] }] }],
])('of %s, what the program sends and runs itself passes: %j', (provider, body) => {
  expect(refusal(provider, body)).toBeUndefined();
});
