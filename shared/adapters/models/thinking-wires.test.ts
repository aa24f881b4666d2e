/**
 * Levels of thinking on the wires of the providers: what each model is told, what is shown, and what happens to a request
 * that is refused for it.
 */
import { describe, expect, test } from 'vitest';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { CallId, MessageId } from '#shared/domain/ids.ts';
import type { ModelChunk, ModelRequest, ThinkingLevel } from '#shared/domain/model.ts';
import { makeAnthropicProvider } from './anthropic.ts';
import { answered, fakeWire, type Reply, streamed } from './fixtures/fake-wire.ts';
import { makeGeminiProvider } from './gemini.ts';
import type { ModelBackend } from './model-backend.ts';
import { makeOpenAiProvider } from './openai.ts';

const user: HistoryMessage = { role: 'user', messageId: 'm' as MessageId, text: 'hi' };
type Asked = {
  readonly model: string;
  readonly thinking: ThinkingLevel | undefined;
  readonly outputTokensMax?: number;
  readonly history?: readonly HistoryMessage[];
};
const requestOf = ({ thinking, outputTokensMax = 8192, model, history = [user] }: Asked): ModelRequest => ({
  ...{ model, system: '', tools: [], history, outputTokensMax },
  ...(thinking === undefined ? {} : { thinking }),
});

type Open = (baseUrl: string) => ModelBackend | Promise<ModelBackend>;
const asking =
  (open: Open, yes: Reply) =>
  async (asked: Asked, replies: readonly Reply[] = [yes]) => {
    const { url, seen } = await fakeWire(...replies);
    const provider = await open(url);
    const chunks = await Array.fromAsync(provider.stream(requestOf(asked), new AbortController().signal));
    // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever a request holds
    return { chunks, bodies: seen.map(({ body }) => body as any) };
  };
const thoughts = (chunks: readonly ModelChunk[]): string =>
  chunks.map((chunk) => (chunk.type === 'reasoning' ? chunk.text : '')).join('');

describe('anthropic', () => {
  const refused = (message: string) =>
    answered(400, { type: 'error', error: { type: 'invalid_request_error', message } });
  const begin = (index: number, type: string) => ({
    ...{ type: 'content_block_start', index },
    content_block: { type, thinking: '', signature: '', text: '', data: 'sealed' },
  });
  const yes = streamed(
    { type: 'message_start', message: { usage: { input_tokens: 3 } } },
    begin(0, 'thinking'),
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'One. ' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Two.' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2ln' } },
    begin(1, 'redacted_thinking'),
    begin(2, 'thinking'),
    { type: 'content_block_delta', index: 2, delta: { type: 'thinking_delta', thinking: 'Three.' } },
    { type: 'content_block_delta', index: 2, delta: { type: 'signature_delta', signature: 'c2ln' } },
    begin(3, 'text'),
    { type: 'content_block_delta', index: 3, delta: { type: 'text_delta', text: 'yes' } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } },
  );
  const ask = asking((baseUrl) => makeAnthropicProvider({ auth: 'key', apiKey: 'sk', baseUrl }), yes);
  const settings = (body: Record<string, unknown>) => [body['thinking'], body['output_config']];

  test('thoughts whose block begins without a signature have the one that follows', async () => {
    const bare = streamed(
      { type: 'message_start', message: { usage: { input_tokens: 3, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2ln' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } },
    );
    const { chunks } = await ask({ model: 'claude-opus-5-5', thinking: 'low' }, [bare]);
    expect(thoughts(chunks)).toBe('Hm.');
    const own = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' };
    expect(chunks.at(-1)).toMatchObject({ providerState: { parts: [{ own }] } });
  });

  test('thoughts are shown apart from the text, redacted ones are not', async () => {
    const { chunks } = await ask({ model: 'claude-opus-5-5', thinking: 'low' });
    expect(thoughts(chunks)).toBe('One. Two.\n\nThree.');
    expect(chunks.filter(({ type }) => type === 'text')).toEqual([{ type: 'text', text: 'yes' }]);
  });

  test.each([
    ['claude-opus-5-5', undefined, undefined, undefined],
    ['claude-opus-5-5', 'off', { type: 'disabled' }, undefined],
    ['claude-opus-5-5', 'medium', { type: 'adaptive', display: 'summarized' }, { effort: 'medium' }],
    ['claude-opus-4-6', 'high', { type: 'adaptive', display: 'summarized' }, { effort: 'high' }],
    ['claude-sonnet-4-5-20250929', 'low', { type: 'enabled', budget_tokens: 2048 }, undefined],
    ['claude-sonnet-4-20250514', 'medium', { type: 'enabled', budget_tokens: 4096 }, undefined],
    ['claude-3-7-sonnet-latest', 'high', { type: 'enabled', budget_tokens: 6144 }, undefined],
    ['claude-opus-4-1', 'off', undefined, undefined],
    ['claude-3-5-haiku-latest', 'high', undefined, undefined],
  ] as const)('%s at %s is told %j', async (model, thinking, ...expected) => {
    const { bodies } = await ask({ model, thinking });
    expect(settings(bodies[0])).toEqual(expected);
    expect(bodies[0]).not.toHaveProperty('temperature');
  });

  test.each([
    [256, undefined],
    [2047, undefined],
    [2048, 1024],
    [3000, 1024],
    [65_536, 16_384],
  ])('of %i tokens a budget leaves an answer its part', async (outputTokensMax, budget) => {
    const { bodies } = await ask({ model: 'claude-haiku-4-5', thinking: 'low', outputTokensMax });
    expect(bodies[0].thinking?.budget_tokens).toBe(budget);
  });

  test('a budget is not asked for in the middle of an exchange that began without thoughts', async () => {
    const call = { callId: 'c' as CallId, name: 'list_files', args: {} };
    const history: HistoryMessage[] = [
      user,
      { role: 'assistant', messageId: 'a' as MessageId, text: '', calls: [call] },
      { role: 'tool', callId: call.callId, name: 'list_files', text: 'a', outcome: 'completed' },
    ];
    const { bodies } = await ask({ model: 'claude-haiku-4-5', thinking: 'low', history });
    expect(settings(bodies[0])).toEqual([undefined, undefined]);
    const newer = await ask({ model: 'claude-opus-5-5', thinking: 'low', history });
    expect(newer.bodies[0].thinking).toMatchObject({ type: 'adaptive' });
  });

  test('signed and redacted blocks go back unchanged while its tools run', async () => {
    const { chunks } = await ask({ model: 'claude-haiku-4-5', thinking: 'low' });
    const end = chunks.at(-1);
    if (end?.type !== 'end' || end.providerState === undefined) throw new Error('no state');
    const call = { callId: 'c' as CallId, name: 'list_files', args: {} };
    const { providerState } = end;
    const parts = [...(providerState['parts'] as object[]), { call: true }];
    const history: HistoryMessage[] = [
      user,
      {
        ...{ role: 'assistant', messageId: 'a' as MessageId, text: 'yes', calls: [call] },
        providerState: { ...providerState, parts } as typeof providerState,
      },
      { role: 'tool', callId: call.callId, name: 'list_files', text: 'a', outcome: 'completed' },
    ];
    const { bodies } = await ask({ model: 'claude-haiku-4-5', thinking: 'low', history });
    expect(bodies[0].thinking).toEqual({ type: 'enabled', budget_tokens: 2048 });
    expect(bodies[0].messages[1].content).toEqual([
      { type: 'thinking', thinking: 'One. Two.', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'sealed' },
      { type: 'thinking', thinking: 'Three.', signature: 'c2ln' },
      { type: 'text', text: 'yes' },
      { type: 'tool_use', id: 'c', name: 'list_files', input: {} },
    ]);
  });

  test.each([
    'thinking.display: Extra inputs are not permitted',
    'adaptive thinking is not supported on this model',
    'This model does not support the effort parameter.',
    '"thinking.type.enabled" is not supported for this model.',
    'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.',
  ])('a refusal of it ends with an answer without it: %s', async (message) => {
    const asked = { model: 'claude-next', thinking: 'high' } as const;
    const { bodies } = await ask(asked, [refused(message), refused(message), yes]);
    expect(bodies.map(settings)).toEqual([
      [{ type: 'adaptive', display: 'summarized' }, { effort: 'high' }],
      [{ type: 'adaptive' }, { effort: 'high' }],
      [undefined, undefined],
    ]);
  });
});

describe('openai', () => {
  const part = (summary_index: number, delta: string) => ({
    ...{ type: 'response.reasoning_summary_text.delta', item_id: 'rs_1', output_index: 0 },
    ...{ summary_index, delta },
  });
  const yes = streamed(
    ...[part(0, '**Look**'), part(0, ' first'), part(1, '**Then** act')],
    { type: 'response.output_text.delta', delta: 'yes' },
    { type: 'response.completed', response: { status: 'completed' } },
  );
  const ask = asking((baseUrl) => makeOpenAiProvider({ apiKey: 'sk', baseUrl }), yes);
  const include = ['reasoning.encrypted_content'];

  test('summaries are shown apart from the text', async () => {
    const { chunks } = await ask({ model: 'gpt-6.1-sol', thinking: 'low' });
    expect(thoughts(chunks)).toBe('**Look** first\n\n**Then** act');
  });

  test.each([
    ['gpt-6.1-sol', undefined, undefined, include],
    ['gpt-6.1-sol', 'high', { effort: 'high', summary: 'auto' }, include],
    ['gpt-6.1-sol', 'off', { effort: 'low' }, include],
    ['gpt-6-sol', 'off', { effort: 'none' }, include],
    ['gpt-5.2', 'off', { effort: 'none' }, include],
    ['gpt-5', 'off', { effort: 'low' }, include],
    ['o4-mini', 'off', { effort: 'low' }, include],
    ['another', 'off', { effort: 'none' }, undefined],
    ['o4-mini', 'medium', { effort: 'medium', summary: 'auto' }, include],
    ['gpt-4.1', 'high', undefined, undefined],
    ['another', 'low', { effort: 'low', summary: 'auto' }, undefined],
  ] as const)('%s at %s is told %j', async (model, thinking, ...expected) => {
    const { bodies } = await ask({ model, thinking });
    expect([bodies[0].reasoning, bodies[0].include]).toEqual(expected);
    expect(bodies[0]).not.toHaveProperty('temperature');
  });

  test('a refusal of its summary, then of its effort, ends with an answer without them', async () => {
    const refused = (param: string) =>
      answered(400, { error: { message: 'Unsupported', param, code: 'unsupported_value', type: 'x' } });
    const asked = { model: 'gpt-6.1-sol', thinking: 'low' } as const;
    const { bodies } = await ask(asked, [refused('reasoning.summary'), refused('reasoning.effort'), yes]);
    expect(bodies.map(({ reasoning }) => reasoning)).toEqual([
      { effort: 'low', summary: 'auto' },
      { effort: 'low' },
      undefined,
    ]);
  });
});

describe('gemini', () => {
  const chunk = (parts: object[], more: object = {}) => ({ candidates: [{ content: { parts }, ...more }] });
  const yes = streamed(
    chunk([{ text: '**Look** ', thought: true }]),
    chunk([{ text: 'first', thought: true }]),
    chunk([{ text: 'yes' }], { finishReason: 'STOP' }),
  );
  const ask = asking((baseUrl) => makeGeminiProvider({ apiKey: 'key', baseUrl }), yes);

  test('thoughts are shown apart from the text', async () => {
    const { chunks } = await ask({ model: 'gemini-3.8-flash', thinking: 'low' });
    expect(thoughts(chunks)).toBe('**Look** first');
    expect(chunks.filter(({ type }) => type === 'text')).toEqual([{ type: 'text', text: 'yes' }]);
  });

  test.each([
    ['gemini-3.8-flash', undefined, undefined],
    ['gemini-3.8-flash', 'off', { thinkingLevel: 'MINIMAL' }],
    ['gemini-3.8-flash', 'medium', { includeThoughts: true, thinkingLevel: 'MEDIUM' }],
    ['gemini-2.5-pro', 'high', { includeThoughts: true, thinkingBudget: 6144 }],
    ['gemini-2.5-flash', 'off', { thinkingBudget: 0 }],
    ['gemini-2.0-flash', 'high', undefined],
  ] as const)('%s at %s is told %j', async (model, thinking, expected) => {
    const { bodies } = await ask({ model, thinking });
    expect(bodies[0].generationConfig?.thinkingConfig).toEqual(expected);
  });

  test('a refusal of its level ends with an answer without it', async () => {
    const message = 'Budget 0 is invalid. This model only works in thinking mode.';
    const refused = answered(400, { error: { code: 400, message, status: 'INVALID_ARGUMENT' } });
    const { bodies } = await ask({ model: 'gemini-2.5-pro', thinking: 'off' }, [refused, yes]);
    expect(bodies.map(({ generationConfig }) => generationConfig?.thinkingConfig)).toEqual([
      { thinkingBudget: 0 },
      undefined,
    ]);
  });
});
