/** The most that one model call can cost: known before it is made, and never less than its bill. */
import type { ModelRequest, TokenUsage } from './model.ts';
import { utf8Bytes } from './text.ts';

/**
 * What a provider adds of its own where tools are offered: some hundred tokens.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview#pricing
 */
const addedTokensMax = 2000;

/** All of the input at the dearest of its prices: what is dearest of all mixtures is none. */
export const callCostMax = (request: ModelRequest, costOf: (usage: TokenUsage) => number): number => {
  const inputTokens = inputTokensMax(request);
  const plain = { inputTokens, outputTokens: request.outputTokensMax };
  const cached = { ...plain, cachedInputTokens: inputTokens };
  const written = { ...plain, cacheWriteInputTokens: inputTokens };
  return Math.max(costOf(plain), costOf(cached), costOf(written));
};

/** A token stands for a byte of text at least: usually for four, so that the truth is far below. */
const inputTokensMax = ({ system, tools, history }: ModelRequest): number =>
  addedTokensMax + utf8Bytes(JSON.stringify({ system, tools, history }));
