/** The bound of one call's bill: never less than any way in which the same words may be counted and priced. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { callCostMax } from './call-cost.ts';
import type { MessageId } from './ids.ts';
import type { ModelRequest, TokenUsage } from './model.ts';
import { costOf, type PriceTable } from './price.ts';
import { utf8Bytes } from './text.ts';

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

test('whatever of a request is a token, and however a cache takes part, its bill is not above the bound', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), price, shares, (text, own, { read, written }) => {
      const prices: PriceTable = { 'openai/m': own };
      const bill = (usage: TokenUsage) => costOf({ provider: 'openai', model: 'm' }, usage, prices).usd;
      const inputTokens = 2000 + 3 * utf8Bytes(text);
      const cachedInputTokens = Math.floor(inputTokens * read);
      const cacheWriteInputTokens = Math.floor((inputTokens - cachedInputTokens) * written);
      const usage = { inputTokens, outputTokens: 100, cachedInputTokens, cacheWriteInputTokens };
      expect(bill(usage)).toBeLessThanOrEqual(callCostMax(requestOf(text), bill) * (1 + 1e-9));
    }),
  );
});

test('a longer answer, a longer conversation and more tools may cost more', () => {
  const bill = ({ inputTokens, outputTokens }: TokenUsage) => inputTokens + 10 * outputTokens;
  const [small, large] = [requestOf('a'), requestOf('a'.repeat(1000))];
  expect(callCostMax(large, bill) - callCostMax(small, bill)).toBe(3 * 999);
  expect(callCostMax({ ...small, outputTokensMax: 200 }, bill) - callCostMax(small, bill)).toBe(1000);
});

test('a model without a price costs nothing', () => {
  expect(callCostMax(requestOf('hello'), () => 0)).toBe(0);
});
