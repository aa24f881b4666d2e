/** The bound of one call's bill: never less than any way in which the same words may be counted and priced. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { MessageId } from './ids.ts';
import type { ModelRequest, ProviderName, TokenUsage } from './model.ts';
import {
  answerTokensWithin,
  type CallTokens,
  callCostMax,
  callTokensMax,
  costOf,
  decodePrices,
  modelPrice,
  type PriceTable,
  pricedModels,
} from './price.ts';
import { utf8Bytes } from './text.ts';

const opus = { provider: 'anthropic', model: 'claude-opus-5-5' } as const;

test('plain, cached and written input and output cost what each costs', () => {
  const usage = {
    inputTokens: 1_000_000,
    outputTokens: 100_000,
    cachedInputTokens: 600_000,
    cacheWriteInputTokens: 200_000,
  };
  // 0.2 million at 4, 0.6 million at 0.2, 0.2 million at 5, 0.1 million at 20.
  expect(costOf(opus, usage)).toEqual({ usd: 3.92, priced: true });
});

test('a model with a date in its name has the model’s price', () => {
  const dated = { provider: 'openai', model: 'gpt-6.1-sol-2026-09-29' } as const;
  expect(costOf(dated, { inputTokens: 500_000, outputTokens: 0 })).toEqual({ usd: 1, priced: true });
});

test('a model without a price costs nothing, and is marked so', () => {
  const usage = { inputTokens: 5, outputTokens: 5 };
  expect(costOf({ provider: 'anthropic', model: 'claude-opus-9' }, usage)).toEqual({ usd: 0, priced: false });
  expect(costOf({ provider: 'openai', model: 'claude-opus-5-5' }, usage)).toEqual({ usd: 0, priced: false });
  expect(costOf({ provider: 'openai', model: '' }, usage, {})).toEqual({ usd: 0, priced: false });
});

test('the demo is free, with a known price', () => {
  const usage = { inputTokens: 5, outputTokens: 5 };
  expect(costOf({ provider: 'demo', model: 'demo' }, usage)).toEqual({ usd: 0, priced: true });
});

test('an operator’s price takes precedence, and the longest matching name wins', () => {
  const own: PriceTable = {
    'anthropic/claude': { input: 100, output: 100 },
    'anthropic/claude-opus': { input: 1, output: 2 },
    'openai/': { input: 50, output: 50 },
  };
  const usage = { inputTokens: 1_000_000, outputTokens: 1_000_000, cachedInputTokens: 500_000 };
  expect(costOf(opus, usage, own)).toEqual({ usd: 3, priced: true });
});

test('a price without a provider is that of models of every provider, and one with its provider comes first', () => {
  const prices = {
    'gpt-6': { input: 7, output: 1 },
    'qwen/qwen3': { input: 6, output: 1 },
    'anthropic/x': { input: 5, output: 1 },
    demo: { input: 4, output: 1 },
    'demo/demo': { input: 3, output: 1 },
  };
  const decoded = decodePrices(JSON.stringify(prices));
  expect(decoded).toEqual({ ok: true, prices });
  const inputOf = (provider: ProviderName, model: string) => modelPrice({ provider, model }, prices)?.input;
  // Before the list's own price.
  expect(inputOf('openai', 'gpt-6.1-sol')).toBe(7);
  expect(inputOf('bedrock', 'gpt-6')).toBe(7);
  expect(inputOf('openai', 'qwen/qwen3-8b')).toBe(6);
  expect(inputOf('demo', 'demo')).toBe(3);
  expect(inputOf('openai', 'demo')).toBe(4);
  // A key that begins with a provider's name is that of its models alone.
  expect(inputOf('openai', 'anthropic/x')).toBeUndefined();
  expect(pricedModels('gemini', prices)).toEqual(['gemini-3.8-flash', 'gpt-6', 'qwen/qwen3', 'demo']);
});

test('inconsistent counts never give a negative cost', () => {
  const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 1_000_000 };
  expect(costOf(opus, usage)).toEqual({ usd: 0.2, priced: true });
});

test('prices are read from JSON', () => {
  expect(decodePrices('{"gemini/gemini-3": {"input": 1, "output": 2.5, "cached": 0}}')).toEqual({
    ok: true,
    prices: { 'gemini/gemini-3': { input: 1, output: 2.5, cached: 0 } },
  });
  expect(decodePrices('{}')).toEqual({ ok: true, prices: {} });
});

test.each([
  ['', 'prices are a JSON object'],
  ['[]', 'prices are a JSON object'],
  ['null', 'prices are a JSON object'],
  ['{"": {"input": 1, "output": 2}}', 'a price needs the start of the name of a model'],
  ['{"gpt-6": {"input": 1}}', 'the price of "gpt-6" needs "output"'],
  ['{"openai/gpt": 3}', 'the price of "openai/gpt" is not an object'],
  ['{"openai/gpt": {"input": 1}}', 'the price of "openai/gpt" needs "output"'],
  ['{"openai/gpt": {"input": 1, "output": 1, "batch": 1}}', 'the price of "openai/gpt" has no field "batch"'],
  ['{"openai/gpt": {"input": -1, "output": 1}}', '"input" of "openai/gpt" is not a number from 0 to 10000'],
  ['{"openai/gpt": {"input": 1, "output": "2"}}', '"output" of "openai/gpt" is not a number from 0 to 10000'],
  [
    `{${Array.from({ length: 201 }, (_, index) => `"openai/${index}": {"input": 1, "output": 1}`).join(',')}}`,
    'at most 200 prices are accepted',
  ],
])('invalid prices are refused: %.60s', (json, problem) => {
  expect(decodePrices(json)).toEqual({ ok: false, problem });
});

const requestOf = (text: string): ModelRequest => ({
  model: 'm',
  system: text,
  tools: [{ name: 't', description: text, inputSchema: {} }],
  history: [{ role: 'user', messageId: 'q' as MessageId, text }],
  outputTokensMax: 100,
});

const usd = fc.integer({ min: 0, max: 50 });
const price = fc.record(
  { input: usd, output: usd, cached: usd, cacheWrite: usd },
  { requiredKeys: ['input', 'output'] },
);
/** Of all bytes some are read from a cache, some written to it. */
const share = fc.double({ min: 0, max: 1, noNaN: true });
const shares = fc.record({ read: share, written: share });

test('for any request and any use of the cache, the cost is within the bound', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), price, shares, (text, own, { read, written }) => {
      const prices: PriceTable = { 'openai/m': own };
      const bill = (usage: TokenUsage) => costOf({ provider: 'openai', model: 'm' }, usage, prices).usd;
      const inputTokens = 2000 + 3 * utf8Bytes(text);
      const cachedInputTokens = Math.floor(inputTokens * read);
      const cacheWriteInputTokens = Math.floor((inputTokens - cachedInputTokens) * written);
      const usage = { inputTokens, outputTokens: 100, cachedInputTokens, cacheWriteInputTokens };
      expect(bill(usage)).toBeLessThanOrEqual(callCostMax(callTokensMax(requestOf(text)), bill) * (1 + 1e-9));
    }),
  );
});

test('a longer answer, a longer conversation and more tools may cost more', () => {
  const bill = ({ inputTokens, outputTokens }: TokenUsage) => inputTokens + 10 * outputTokens;
  const [small, large] = [requestOf('a'), requestOf('a'.repeat(1000))].map(callTokensMax) as [
    CallTokens,
    CallTokens,
  ];
  expect(callCostMax(large, bill) - callCostMax(small, bill)).toBe(3 * 999);
  expect(callCostMax({ ...small, outputTokens: 200 }, bill) - callCostMax(small, bill)).toBe(1000);
});

test('of an answer, as much is paid for as the money covers beside the input', () => {
  const bill = (outputTokens: number) => 3 + outputTokens * 2;
  expect([2.9, 3, 4.9, 5, 10, 23, 1000].map((usd) => answerTokensWithin(usd, 10, bill))).toEqual([
    0, 0, 0, 1, 3, 10, 10,
  ]);
  expect(answerTokensWithin(0, 10, () => 0)).toBe(10);
});

test('a model without a price costs nothing', () => {
  expect(callCostMax(callTokensMax(requestOf('hello')), () => 0)).toBe(0);
});
