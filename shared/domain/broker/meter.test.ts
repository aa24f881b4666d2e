/** The meter of an answer: reports of each provider, answers that break off, and pieces that are cut anywhere. */
import { expect, test } from 'vitest';
import { openMeter } from './meter.ts';
import type { BrokerProvider } from './provider.ts';

const usageOf = (provider: BrokerProvider, text: string, { isStreamed = true, pieces = 7 } = {}) => {
  const meter = openMeter(provider, { isStreamed, requestBytes: 400 });
  for (let at = 0; at < text.length; at += pieces) meter.take(text.slice(at, at + pieces));
  return meter.usage();
};
const stream = (...events: readonly object[]): string =>
  events.map((event) => `event: e\ndata: ${JSON.stringify(event)}\n\n`).join('');

const started = {
  type: 'message_start',
  message: {
    usage: { input_tokens: 10, cache_read_input_tokens: 5, cache_creation_input_tokens: 3, output_tokens: 1 },
  },
};
const said = (text: string) => ({ type: 'content_block_delta', delta: { type: 'text_delta', text } });

test('anthropic reports its input first and its output last', () => {
  const ended = { type: 'message_delta', usage: { output_tokens: 9 } };
  expect(usageOf('anthropic', stream(started, said('x'.repeat(300)), ended))).toEqual({
    ...{ inputTokens: 18, cachedInputTokens: 5, cacheWriteInputTokens: 3, outputTokens: 9 },
  });
});

test('an answer that breaks off counts as its text, and as its request', () => {
  expect(usageOf('anthropic', stream(started, said('x'.repeat(300))))).toMatchObject({
    ...{ inputTokens: 18, outputTokens: Math.ceil((300 + 'text_delta'.length) / 3) },
  });
  expect(usageOf('openai', stream({ choices: [{ delta: { content: 'x'.repeat(30) } }] }))).toEqual({
    ...{ inputTokens: 100, outputTokens: 10 },
  });
  expect(usageOf('gemini', '')).toEqual({ inputTokens: 100, outputTokens: 0 });
});

test('openai repeats its text at the end of an answer, which counts once', () => {
  const delta = { type: 'response.output_text.delta', delta: 'x'.repeat(300) };
  const done = { type: 'response.output_text.done', text: 'x'.repeat(300) };
  expect(usageOf('openai', stream(delta, done))).toMatchObject({ outputTokens: 100 });
  const usage = { input_tokens: 4, output_tokens: 6, input_tokens_details: { cached_tokens: 2 } };
  expect(usageOf('openai', stream(delta, done, { type: 'response.completed', response: { usage } }))).toEqual(
    {
      ...{ inputTokens: 4, outputTokens: 6, cachedInputTokens: 2 },
    },
  );
});

test('openai reports what it wrote to its cache, on both wires', () => {
  const details = { cached_tokens: 2, cache_write_tokens: 3 };
  const counted = { cachedInputTokens: 2, cacheWriteInputTokens: 3 };
  const response = { usage: { input_tokens: 9, output_tokens: 6, input_tokens_details: details } };
  expect(usageOf('openai', stream({ type: 'response.completed', response }))).toEqual({
    ...{ inputTokens: 9, outputTokens: 6, ...counted },
  });
  const usage = { prompt_tokens: 9, completion_tokens: 6, prompt_tokens_details: details };
  expect(usageOf('openai', stream({ choices: [], usage }))).toEqual({
    ...{ inputTokens: 9, outputTokens: 6, ...counted },
  });
});

test('gemini reports with every piece, and means it with the last', () => {
  const piece = { candidates: [{ content: { parts: [{ text: 'x'.repeat(300) }] } }] };
  const report = { usageMetadata: { promptTokenCount: 8, candidatesTokenCount: 2, thoughtsTokenCount: 3 } };
  expect(usageOf('gemini', stream({ ...piece, ...report }))).toEqual({ inputTokens: 8, outputTokens: 100 });
  const last = { candidates: [{ finishReason: 'STOP' }], ...report };
  expect(usageOf('gemini', stream(piece, last))).toEqual({ inputTokens: 8, outputTokens: 5 });
});

test.each([
  ['a prompt that is blocked', { promptFeedback: { blockReason: 'SAFETY' } }],
  ['an answer that is refused before its first word', { candidates: [{ finishReason: 'SAFETY' }] }],
])('gemini leaves out a count of nothing: %s costs its input', (_, ended) => {
  const meter = openMeter('gemini', { isStreamed: true, requestBytes: 400 });
  meter.take(stream({ ...ended, usageMetadata: { promptTokenCount: 8 } }));
  expect(meter.isFinal()).toBe(true);
  expect(meter.usage()).toEqual({ inputTokens: 8, outputTokens: 0 });
});

test('an answer that is no stream is read as a whole', () => {
  const body = JSON.stringify({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } });
  expect(usageOf('openai', body, { isStreamed: false })).toEqual({ inputTokens: 3, outputTokens: 4 });
  expect(usageOf('openai', 'x'.repeat(30), { isStreamed: false })).toEqual({
    inputTokens: 100,
    outputTokens: 10,
  });
});

test('a line that never ends is counted and not held', () => {
  const endless = `data: ${'x'.repeat(9_000_000)}`;
  expect(usageOf('anthropic', endless, { pieces: 3_000_000 }).outputTokens).toBeGreaterThan(2_900_000);
});

test('counts that are none are not believed', () => {
  const usage = { input_tokens: -1, output_tokens: '9' };
  expect(usageOf('anthropic', stream({ type: 'message_delta', usage }))).toEqual({
    inputTokens: 100,
    outputTokens: 0,
  });
});
