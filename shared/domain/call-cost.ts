/** The upper bound of the cost of one model call: known before the call is made, and never less than its bill. */
import type { ModelRequest, TokenUsage } from './model.ts';
import { utf8Bytes } from './text.ts';

/**
 * Tokens that a provider adds where tools are offered: some hundred.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview#pricing
 */
const addedTokensMax = 2000;

/** All input at the highest of its prices: no mixture of prices costs more. */
export const callCostMax = (request: ModelRequest, costOf: (usage: TokenUsage) => number): number => {
  const inputTokens = inputTokensMax(request);
  const plain = { inputTokens, outputTokens: request.outputTokensMax };
  const cached = { ...plain, cachedInputTokens: inputTokens };
  const written = { ...plain, cacheWriteInputTokens: inputTokens };
  return Math.max(costOf(plain), costOf(cached), costOf(written));
};

/** A token stands for at least one byte of text: usually for four, so that the true number is far lower. */
const inputTokensMax = ({ system, tools, history }: ModelRequest): number =>
  addedTokensMax + utf8Bytes(JSON.stringify({ system, tools, history }));
