import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { CallId, MessageId } from '#shared/domain/ids.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import type { ModelChunk, ModelRequest, ProviderName } from '#shared/domain/model.ts';
import { isAppError } from '#shared/errors.ts';
import { answered, fakeWire, openReply, type Reply, send, streamed } from './fixtures/fake-wire.ts';
import type { ModelBackend } from './model-backend.ts';
import { makeModelProviders } from './model-providers.ts';

/** One provider's form of the behaviour that every provider must have on its wire. */
type Dialect = {
  readonly provider: Exclude<ProviderName, 'demo'>;
  readonly model: string;
  /** An answer that begins with "The first w". */
  readonly begun: readonly object[];
  readonly end: readonly object[];
  /** An answer that thinks, says "Look.", and asks for two tools. */
  readonly thinking: readonly object[];
  /** The signed part of it, in a later request. */
  readonly signed: object;
  readonly refusedState: Reply;
  readonly counted: object;
};

const key = 'sk-secret';

const anthropic: Dialect = {
  provider: 'anthropic',
  model: 'claude-opus-5-5',
  begun: [
    { type: 'message_start', message: { usage: { input_tokens: 3 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'The first w' } },
  ],
  end: [{ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } }],
  thinking: [
    { type: 'message_start', message: { usage: { input_tokens: 3 } } },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'thinking', thinking: '', signature: '' },
    },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2lnbmVk' } },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Lo' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'ok.' } },
    ...[2, 3].map((index) => ({
      type: 'content_block_start',
      index,
      content_block: { type: 'tool_use', id: `call_${index}`, name: 'list_files', input: {} },
    })),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 7 } },
  ],
  signed: {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmVk' },
      { type: 'text', text: 'Look.' },
      { type: 'tool_use', id: 'call_2', name: 'list_files', input: {} },
      { type: 'tool_use', id: 'call_3', name: 'list_files', input: {} },
    ],
  },
  refusedState: answered(400, {
    type: 'error',
    error: {
      type: 'invalid_request_error',
      message: 'Invalid `signature` in `thinking` block. The block is bound to a different conversation.',
    },
  }),
  counted: { input_tokens: 42 },
};

const call = (id: string) => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: 'list_files',
  arguments: '{}',
  status: 'completed',
});
const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'c2lnbmVk' };

const openai: Dialect = {
  provider: 'openai',
  model: 'gpt-6.1-sol',
  begun: [
    { type: 'response.created', response: { id: 'resp_1' } },
    { type: 'response.output_text.delta', delta: 'The first w' },
  ],
  end: [{ type: 'response.completed', response: { status: 'completed', usage: { input_tokens: 3 } } }],
  thinking: [
    { type: 'response.output_item.done', item: reasoning },
    { type: 'response.output_text.delta', delta: 'Lo' },
    { type: 'response.output_text.delta', delta: 'ok.' },
    {
      type: 'response.output_item.done',
      item: { type: 'message', content: [{ type: 'output_text', text: 'Look.' }], phase: 'commentary' },
    },
    { type: 'response.output_item.done', item: call('call_2') },
    { type: 'response.output_item.done', item: call('call_3') },
    { type: 'response.completed', response: { status: 'completed' } },
  ],
  signed: [
    reasoning,
    { role: 'assistant', content: 'Look.', phase: 'commentary' },
    { type: 'function_call', call_id: 'call_2', name: 'list_files', arguments: '{}' },
    { type: 'function_call', call_id: 'call_3', name: 'list_files', arguments: '{}' },
  ],
  refusedState: answered(400, {
    error: {
      message: "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
      type: 'invalid_request_error',
    },
  }),
  counted: { object: 'response.input_tokens', input_tokens: 42 },
};

const chunk = (parts: readonly object[], more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, ...more }],
});

const gemini: Dialect = {
  provider: 'gemini',
  model: 'gemini-3.8-flash',
  begun: [chunk([{ text: 'The first w' }])],
  end: [chunk([], { finishReason: 'STOP' })],
  thinking: [
    chunk([{ text: 'Hm.', thought: true }]),
    chunk([{ text: 'Lo' }]),
    chunk([{ text: 'ok.' }]),
    chunk([
      { functionCall: { id: 'call_2', name: 'list_files', args: {} }, thoughtSignature: 'c2lnbmVk' },
      { functionCall: { id: 'call_3', name: 'list_files', args: {} } },
    ]),
    chunk([], { finishReason: 'STOP' }),
  ],
  signed: {
    role: 'model',
    parts: [
      { text: 'Look.' },
      { functionCall: { id: 'call_2', name: 'list_files', args: {} }, thoughtSignature: 'c2lnbmVk' },
      { functionCall: { id: 'call_3', name: 'list_files', args: {} } },
    ],
  },
  refusedState: answered(400, {
    error: { code: 400, status: 'INVALID_ARGUMENT', message: 'Corrupted thought signature.' },
  }),
  counted: { totalTokens: 42 },
};

const user = (text: string): HistoryMessage => ({ role: 'user', messageId: 'm' as MessageId, text });
const assistant = (
  text: string,
  calls: readonly string[],
  echo?: JsonObject,
): HistoryMessage & { role: 'assistant' } => ({
  role: 'assistant',
  messageId: 'a' as MessageId,
  text,
  calls: calls.map((callId) => ({ callId: callId as CallId, name: 'list_files', args: {} })),
  ...(echo === undefined ? {} : { providerState: echo }),
});
const result = (callId: string): HistoryMessage => ({
  role: 'tool',
  callId: callId as CallId,
  name: 'list_files',
  text: `result of ${callId}`,
  outcome: 'completed',
});

const requestOf = ({ model }: Dialect, history: readonly HistoryMessage[] = [user('hi')]): ModelRequest => ({
  model,
  system: 'Be brief.',
  tools: [{ name: 'list_files', description: 'Lists.', inputSchema: { type: 'object' } }],
  history,
  outputTokensMax: 100,
});

const open = async ({ provider }: Dialect, url: string): Promise<ModelBackend> => {
  const access = { key: async () => key, baseUrl: url };
  return makeModelProviders({ anthropic: access, openai: access, gemini: access }).open(provider);
};
const answer = async (
  backend: ModelBackend,
  request: ModelRequest,
  signal = new AbortController().signal,
): Promise<ModelChunk[]> => Array.fromAsync(backend.stream(request, signal));
const textOf = (chunks: readonly ModelChunk[]): string =>
  chunks.map((part) => (part.type === 'text' ? part.text : '')).join('');
const failureOf = async (failing: Promise<unknown>) => {
  const error: unknown = await failing.catch((thrown: unknown) => thrown);
  if (!isAppError(error)) throw new Error('no AppError', { cause: error });
  return error;
};
const providerStateOf = (chunks: readonly ModelChunk[]): JsonObject | undefined => {
  const end = chunks.at(-1);
  return end?.type === 'end' ? end.providerState : undefined;
};

describe.each([anthropic, openai, gemini])('$provider', (dialect) => {
  const { begun, end, thinking, signed, refusedState } = dialect;
  const request = requestOf(dialect);
  const whole = streamed(...begun, ...end);

  test('an answer cut by a closed connection is reported, not retried', async () => {
    const { url, seen } = await fakeWire((response) => {
      send(response, begun);
      setImmediate(() => response.destroy());
    }, whole);
    const error = await failureOf(answer(await open(dialect, url), request));
    expect(error.code).toBe('provider_unavailable');
    expect(seen).toHaveLength(1);
  });

  test('a request that is refused with images is sent again without, and a refusal of that one is reported', async () => {
    const { url, seen } = await fakeWire(
      answered(400, { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'Could not process image' } }),
      whole,
      answered(400, { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'no' } }),
    );
    const drawn = { ...result('call_1'), images: [{ mimeType: 'image/png', data: 'iVBORw0KGgo=' }] };
    const history = [user('draw'), assistant('', ['call_1']), drawn as HistoryMessage];
    const chunks = await answer(await open(dialect, url), requestOf(dialect, history));
    expect(textOf(chunks)).toBe('The first w');
    expect(seen.map((body) => JSON.stringify(body).includes('iVBORw0KGgo'))).toEqual([true, false]);
    const error = await failureOf(answer(await open(dialect, url), request));
    expect([error.code, seen.length]).toEqual(['internal_error', 3]);
  });

  test('an answer that ends early is reported, not retried', async () => {
    const { url, seen } = await fakeWire(streamed(...begun), whole);
    const error = await failureOf(answer(await open(dialect, url), request));
    expect(error.code).toBe('provider_unavailable');
    expect(seen).toHaveLength(1);
  });

  test('an answer that turns into invalid JSON is reported, not retried', async () => {
    const { url, seen } = await fakeWire((response) => {
      send(response, begun);
      response.end('event: message_delta\ndata: {"type":\n\n');
    }, whole);
    const error = await failureOf(answer(await open(dialect, url), request));
    expect(error.code).toBe('provider_unavailable');
    expect(seen).toHaveLength(1);
  });

  test('a connection that closes before the answer is retried once, and then reported', async () => {
    const hungUp: Reply = (response) => response.destroy();
    const { url, seen } = await fakeWire(hungUp, whole, hungUp, hungUp, whole);
    const backend = await open(dialect, url);
    expect(textOf(await answer(backend, request))).toBe('The first w');
    expect((await failureOf(answer(backend, request))).code).toBe('provider_unavailable');
    expect(seen).toHaveLength(4);
  });

  test('an unreachable provider is unavailable', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await new Promise((listening) => closed.once('listening', listening));
    const { port } = closed.address() as { port: number };
    await new Promise((done) => closed.close(done));
    const backend = await open(dialect, `http://127.0.0.1:${port}`);
    expect((await failureOf(answer(backend, request))).code).toBe('provider_unavailable');
  });

  test('aborting in the middle gives the caller’s own reason and closes the connection', async () => {
    const { reply, closed } = openReply(begun);
    const { url } = await fakeWire(reply);
    const stopping = new AbortController();
    const backend = await open(dialect, url);
    const chunks = backend.stream(request, stopping.signal)[Symbol.asyncIterator]();
    expect((await chunks.next()).value).toEqual({ type: 'text', text: 'The first w' });
    const next = chunks.next();
    stopping.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
    await closed;
  });

  test('aborting before the answer gives the caller’s own reason and closes the connection', async () => {
    const { reply, asked, closed } = openReply([]);
    const { url, seen } = await fakeWire(reply);
    const stopping = new AbortController();
    const backend = await open(dialect, url);
    const next = backend.stream(request, stopping.signal)[Symbol.asyncIterator]().next();
    await asked;
    stopping.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
    await closed;
    expect(seen).toHaveLength(1);
  });

  test('an aborted signal sends no request', async () => {
    const { url, seen } = await fakeWire();
    const aborted = AbortSignal.abort(new Error('enough'));
    await expect(answer(await open(dialect, url), request, aborted)).rejects.toThrow('enough');
    expect(seen).toEqual([]);
  });

  test('leaving the loop closes the connection', async () => {
    const { reply, closed } = openReply(begun);
    const { url } = await fakeWire(reply);
    const backend = await open(dialect, url);
    for await (const _chunk of backend.stream(request, new AbortController().signal)) break;
    await closed;
  });

  test('the key is sent with the request, and is in no error', async () => {
    const { url, seen } = await fakeWire(answered(401, { error: { message: `bad key ${key}` } }));
    const error = await failureOf(answer(await open(dialect, url), request));
    expect(error.code).toBe('provider_auth_failed');
    expect(error.message).not.toContain(key);
    expect(JSON.stringify(seen[0]?.headers)).toContain(key);
  });

  test('a history of sixty exchanges is sent whole and in order', async () => {
    const { url, seen } = await fakeWire(whole);
    const history = Array.from({ length: 60 }, (_, index) => [
      user(`question ${index}`),
      assistant(`looking ${index}`, [`a${index}`, `b${index}`]),
      result(`b${index}`),
      result(`a${index}`),
      assistant(`answer ${index}`, []),
    ]).flat();
    await answer(await open(dialect, url), requestOf(dialect, [...history, user('and now?')]));
    const said = JSON.stringify(seen[0]?.body).match(
      /question \d+|looking \d+|result of [ab]\d+|answer \d+|and now\?/g,
    );
    expect(said).toHaveLength(60 * 5 + 1);
    expect(said?.filter((word) => !word.startsWith('result'))).toEqual([
      ...Array.from({ length: 60 }, (_, index) => [
        `question ${index}`,
        `looking ${index}`,
        `answer ${index}`,
      ]).flat(),
      'and now?',
    ]);
  });

  describe('provider state', () => {
    const asked = async () => {
      const { url } = await fakeWire(streamed(...thinking));
      const chunks = await answer(await open(dialect, url), requestOf(dialect, [user('look')]));
      return { chunks, echo: providerStateOf(chunks) };
    };
    const continued = (echo: JsonObject | undefined): HistoryMessage[] => [
      user('look'),
      assistant('Look.', ['call_2', 'call_3'], echo),
      result('call_2'),
      result('call_3'),
    ];

    test('arrives with the end, beside text and parallel calls', async () => {
      const { chunks, echo } = await asked();
      expect(textOf(chunks)).toBe('Look.');
      expect(chunks.filter(({ type }) => type === 'call')).toEqual([
        { type: 'call', callId: 'call_2', name: 'list_files', args: {} },
        { type: 'call', callId: 'call_3', name: 'list_files', args: {} },
      ]);
      expect(chunks.at(-1)).toMatchObject({ type: 'end', end: 'tool_use' });
      expect(JSON.stringify(echo)).toContain('c2lnbmVk');
      expect(JSON.stringify(echo)).not.toContain('Look.');
    });

    test('is sent back in its place while the exchange continues', async () => {
      const { echo } = await asked();
      const { url, seen } = await fakeWire(whole);
      await answer(await open(dialect, url), requestOf(dialect, continued(echo)));
      const sent = Object.values(seen[0]?.body as object).find(
        (value) => Array.isArray(value) && value.length > 2,
      );
      expect(sent).toEqual(expect.arrayContaining([signed].flat()));
    });

    test('is not sent in the next exchange, nor to another model or provider', async () => {
      const { echo } = await asked();
      const { url, seen } = await fakeWire(whole, whole, whole);
      const backend = await open(dialect, url);
      await answer(backend, requestOf(dialect, [...continued(echo), assistant('Done.', []), user('more')]));
      await answer(backend, { ...requestOf(dialect, continued(echo)), model: 'another' });
      await answer(backend, requestOf(dialect, continued({ ...echo, provider: 'demo' })));
      expect(seen).toHaveLength(3);
      expect(JSON.stringify(seen)).not.toContain('c2lnbmVk');
      expect(JSON.stringify(seen)).toContain('Look.');
    });

    test('is not sent with an answer that it does not match', async () => {
      const { echo } = await asked();
      const { url, seen } = await fakeWire(whole);
      const history = [user('look'), assistant('Changed.', ['call_2'], echo), result('call_2')];
      await answer(await open(dialect, url), requestOf(dialect, history));
      expect(JSON.stringify(seen)).not.toContain('c2lnbmVk');
    });

    test('is left out when it is refused, and the answer is marked as standalone', async () => {
      const { echo } = await asked();
      const { url, seen } = await fakeWire(refusedState, streamed(...thinking), whole);
      const backend = await open(dialect, url);
      const chunks = await answer(backend, requestOf(dialect, continued(echo)));
      expect(textOf(chunks)).toBe('Look.');
      expect(JSON.stringify(seen[0])).toContain('c2lnbmVk');
      expect(JSON.stringify(seen[1])).not.toContain('c2lnbmVk');
      expect(providerStateOf(chunks)).toMatchObject({ withoutHistory: true });
      const next = [
        ...continued(echo),
        assistant('Look.', ['call_2', 'call_3'], providerStateOf(chunks)),
        result('call_2'),
        result('call_3'),
      ];
      await answer(backend, requestOf(dialect, next));
      expect(JSON.stringify(seen[2]).split('c2lnbmVk')).toHaveLength(2);
    });

    test('without it, the same refusal is an internal error', async () => {
      const { url, seen } = await fakeWire(refusedState);
      const error = await failureOf(
        answer(await open(dialect, url), requestOf(dialect, continued(undefined))),
      );
      expect(error.code).toBe('internal_error');
      expect(seen).toHaveLength(1);
    });
  });

  test('the provider counts a request without it', async () => {
    const { url, seen } = await fakeWire(answered(200, dialect.counted));
    const backend = await open(dialect, url);
    const history = [user('hi'), assistant('', ['call_1']), result('call_1')];
    const tokens = await backend.count?.(requestOf(dialect, history), new AbortController().signal);
    expect(tokens).toBe(42);
    const sent = JSON.stringify(seen[0]?.body);
    for (const part of ['Be brief.', 'list_files', 'Lists.', 'result of call_1'])
      expect(sent).toContain(part);
  });

  test('a failing count is an error of the provider, and an aborted one has its own reason', async () => {
    const { reply, asked } = openReply([]);
    const { url } = await fakeWire(answered(429, { error: { message: 'slow down' } }), reply);
    const backend = await open(dialect, url);
    const failing = Promise.resolve(backend.count?.(request, new AbortController().signal));
    expect((await failureOf(failing)).code).toBe('provider_rate_limited');
    const stopping = new AbortController();
    const counting = Promise.resolve(backend.count?.(request, stopping.signal));
    await asked;
    stopping.abort(new Error('enough'));
    await expect(counting).rejects.toThrow('enough');
  });
});
