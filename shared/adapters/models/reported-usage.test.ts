/** Usage that each provider's wire reports before an answer has ended: of one that is cut off it is all that is known. */
import { expect, onTestFinished, test, vi } from 'vitest';
import type { MessageId } from '#shared/domain/ids.ts';
import type { ModelRequest, TokenUsage } from '#shared/domain/model.ts';
import { makeAnthropicProvider } from './anthropic.ts';
import { makeBedrockProvider } from './bedrock.ts';
import { demoProvider } from './demo.ts';
import { eventStream, eventStreamWire } from './fixtures/event-stream-wire.ts';
import { fakeWire, streamed } from './fixtures/fake-wire.ts';
import { makeGeminiProvider } from './gemini.ts';
import type { ModelBackend } from './model-backend.ts';
import { makeOpenAiProvider } from './openai.ts';

const request: ModelRequest = {
  ...{ model: 'claude-opus-5-5', system: '', tools: [], outputTokensMax: 100 },
  history: [{ role: 'user', messageId: 'm' as MessageId, text: 'hi' }],
};

/** All that was told of an answer, and whether it failed. */
const heard = async (provider: ModelBackend, model = request.model) => {
  const told: TokenUsage[] = [];
  const onUsage = (usage: TokenUsage): void => void told.push(usage);
  const signal = new AbortController().signal;
  const chunks = Array.fromAsync(provider.stream({ ...request, model }, signal, { onUsage }));
  const error: unknown = await chunks.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { told, hasFailed: error !== undefined };
};

/** The last of it, of an answer that breaks off after these events. */
const lastOf = async (open: (url: string) => Promise<ModelBackend>, events: readonly object[]) => {
  const { url } = await fakeWire(streamed(...events));
  const { told, hasFailed } = await heard(await open(url));
  expect(hasFailed).toBe(true);
  return told.at(-1);
};

const anthropic = (baseUrl: string) => makeAnthropicProvider({ auth: 'key', apiKey: 'k', baseUrl });
const gemini = async (baseUrl: string) => makeGeminiProvider({ apiKey: 'k', baseUrl });
const responses = async (baseUrl: string) => makeOpenAiProvider({ apiKey: 'k', baseUrl });
const chat = async (url: string) => makeOpenAiProvider({ apiKey: 'k', baseUrl: `${url}/v1`, api: 'chat' });

const start = {
  type: 'message_start',
  message: { usage: { input_tokens: 3, cache_read_input_tokens: 40, output_tokens: 1 } },
};
const said = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'The first w' } };
const input = { inputTokens: 43, cachedInputTokens: 40 };

test('Anthropic reports the input as the answer begins, and the output with its end', async () => {
  expect(await lastOf(anthropic, [start, said])).toEqual({ ...input, outputTokens: 1 });
  const delta = { type: 'message_delta', delta: {}, usage: { output_tokens: 9, input_tokens: null } };
  expect(await lastOf(anthropic, [start, said, delta])).toEqual({ ...input, outputTokens: 9 });
});

test('a failure of the provider comes after the usage that came with it', async () => {
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  expect(await lastOf(anthropic, [start, overloaded])).toEqual({ ...input, outputTokens: 1 });
});

test('a server of Anthropic’s wire that reports nothing is believed', async () => {
  expect(await lastOf(anthropic, [{ type: 'message_start', message: {} }, said])).toBeUndefined();
});

test('Gemini reports both with each piece', async () => {
  const piece = (text: string, candidatesTokenCount: number) => ({
    candidates: [{ content: { role: 'model', parts: [{ text }] } }],
    usageMetadata: { promptTokenCount: 12, candidatesTokenCount, thoughtsTokenCount: 20 },
  });
  expect(await lastOf(gemini, [piece('The', 1), piece(' first', 4)])).toEqual({
    inputTokens: 12,
    outputTokens: 24,
  });
});

test('OpenAI reports nothing before the end', async () => {
  const delta = { type: 'response.output_text.delta', delta: 'The first w' };
  const created = { type: 'response.created', response: { id: 'resp_1', usage: null } };
  expect(await lastOf(responses, [created, delta])).toBeUndefined();
  const { url } = await fakeWire(
    streamed(delta, {
      type: 'response.completed',
      response: { status: 'completed', usage: { input_tokens: 3, output_tokens: 5 } },
    }),
  );
  expect((await heard(await responses(url))).told).toEqual([{ inputTokens: 3, outputTokens: 5 }]);
});

test('a chat server may count along, or with the end alone', async () => {
  const delta = { choices: [{ index: 0, delta: { content: 'The first w' }, finish_reason: null }] };
  expect(await lastOf(chat, [delta])).toBeUndefined();
  const counting = { ...delta, usage: { prompt_tokens: 12, completion_tokens: 3 } };
  expect(await lastOf(chat, [delta, counting])).toEqual({ inputTokens: 12, outputTokens: 3 });
});

test('Bedrock reports nothing before the end', async () => {
  const delta = { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'The first w' } } };
  const usage = { inputTokens: 3, outputTokens: 7, totalTokens: 10 };
  const metadata = { metadata: { usage, metrics: { latencyMs: 1 } } };
  const { url } = await eventStreamWire(eventStream(delta), eventStream(delta, metadata));
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  onTestFinished(() => void vi.unstubAllEnvs());
  const provider = makeBedrockProvider({ region: 'eu-central-1', baseUrl: url });
  expect(await heard(provider)).toEqual({ told: [], hasFailed: true });
  expect((await heard(provider)).told.at(-1)).toEqual({ inputTokens: 3, outputTokens: 7 });
});

test('the demo reports the input before it speaks', async () => {
  const { told } = await heard(demoProvider, 'demo');
  expect(told).toEqual([{ inputTokens: expect.any(Number), outputTokens: 0 }]);
  expect(told[0]?.inputTokens).toBeGreaterThan(0);
});
