/**
 * The cost of tokens: prices by provider and the beginning of a model's id, in USD for a million tokens, and the upper
 * bound of the cost of one call, which is known before the call is made and never less than its bill.
 *
 * The table knows a few current models; an unknown model costs nothing and is reported as `unpriced`. An
 * operator's own prices come first. Surcharges for very long prompts are not included.
 */
import { type ModelRequest, type ProviderName, providers, type TokenUsage } from './model.ts';
import { utf8Bytes } from './text.ts';

type Price = {
  readonly input: number;
  readonly output: number;
  /** Input that was read from the provider's cache; absent: the same as other input. */
  readonly cached?: number;
  /** Input that was written to the provider's cache; absent: the same as other input. */
  readonly cacheWrite?: number;
};

/** Keys are `[<provider>/]<beginning of the model's id>`; one that names the provider comes first, then the longest match. */
export type PriceTable = Readonly<Record<string, Price>>;

type Cost = { readonly usd: number; readonly priced: boolean };

type DecodedPrices =
  | { readonly ok: true; readonly prices: PriceTable }
  | { readonly ok: false; readonly problem: string };

/** As published by the providers in November 2026. Where a price has a date, the higher one stands. */
const listPrices: PriceTable = {
  'anthropic/claude-opus-5-5': { input: 4, output: 20, cached: 0.2, cacheWrite: 5 },
  'anthropic/claude-sonnet-5-5': { input: 2, output: 10, cached: 0.1, cacheWrite: 2.5 },
  'anthropic/claude-haiku-5-5': { input: 0.1, output: 0.5, cached: 0.01, cacheWrite: 0.125 },
  'bedrock/global.anthropic.claude-opus-5-5': { input: 4, output: 20, cached: 0.2, cacheWrite: 5 },
  'bedrock/global.anthropic.claude-sonnet-5-5': { input: 2, output: 10, cached: 0.1, cacheWrite: 2.5 },
  'bedrock/global.anthropic.claude-haiku-5-5': { input: 0.1, output: 0.5, cached: 0.01, cacheWrite: 0.125 },
  'openai/gpt-6.1-sol': { input: 2, output: 10, cached: 0.1, cacheWrite: 2.5 },
  'openai/gpt-6.1-terra': { input: 1, output: 5, cached: 0.05, cacheWrite: 1.25 },
  // Half of it until the end of 2026.
  'gemini/gemini-3.8-flash': { input: 1.5, output: 7.5, cached: 0.15 },
  // It answers by itself, whatever its model is called.
  'demo/': { input: 0, output: 0 },
};

const million = 1_000_000;
const pricesMax = 200;
const usdMax = 10_000;
const fields = ['input', 'output', 'cached', 'cacheWrite'];

export const costOf = (
  { provider, model }: { readonly provider: ProviderName; readonly model: string },
  usage: TokenUsage,
  own: PriceTable = {},
): Cost => {
  const price = modelPrice({ provider, model }, own);
  if (price === undefined) return { usd: 0, priced: false };
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteInputTokens = 0 } = usage;
  const plain = Math.max(0, inputTokens - cachedInputTokens - cacheWriteInputTokens);
  const microUsd =
    plain * price.input +
    cachedInputTokens * (price.cached ?? price.input) +
    cacheWriteInputTokens * (price.cacheWrite ?? price.input) +
    outputTokens * price.output;
  return { usd: microUsd / million, priced: true };
};

/** Undefined for a model without a known price. */
export const modelPrice = (
  { provider, model }: { readonly provider: ProviderName; readonly model: string },
  own: PriceTable = {},
): Price | undefined => {
  const name = `${provider}/${model}`;
  return priceOf(name, own) ?? priceOf(model, ofAnyProvider(own)) ?? priceOf(name, listPrices);
};

/** The beginnings of the names of a provider's models that have a price. */
export const pricedModels = (provider: ProviderName, own: PriceTable = {}): readonly string[] => {
  const named = Object.keys({ ...own, ...listPrices })
    .filter((name) => name.startsWith(`${provider}/`))
    .map((name) => name.slice(provider.length + 1))
    .filter((name) => name !== '');
  return [...new Set([...named, ...Object.keys(ofAnyProvider(own))])];
};

/** The prices whose key names no provider. */
const ofAnyProvider = (own: PriceTable): PriceTable =>
  Object.fromEntries(Object.entries(own).filter(([name]) => !namesProvider(name)));

const namesProvider = (name: string): boolean =>
  providers.some((provider) => name.startsWith(`${provider}/`));

const priceOf = (name: string, prices: PriceTable): Price | undefined => {
  const fits = Object.keys(prices).filter((prefix) => name.startsWith(prefix));
  const longest = fits.reduce((best, prefix) => (prefix.length > best.length ? prefix : best), '');
  return Object.hasOwn(prices, longest) ? prices[longest] : undefined;
};

/** Reads an operator's prices: a JSON object such as `{"gpt-6.1": {"input": 2, "output": 10}}`. */
export const decodePrices = (json: string): DecodedPrices => {
  const entries = entriesOf(json);
  if (entries === undefined) return { ok: false, problem: 'prices are a JSON object' };
  if (entries.length > pricesMax) return { ok: false, problem: `at most ${pricesMax} prices are accepted` };
  for (const [name, price] of entries) {
    const problem = problemOf(name, price);
    if (problem !== undefined) return { ok: false, problem };
  }
  return { ok: true, prices: Object.fromEntries(entries) as PriceTable };
};

/** A setting that was checked when the function started; absent: no prices of the operator's own. */
export const pricesOf = (json = '{}'): PriceTable => {
  const decoded = decodePrices(json);
  if (decoded.ok) return decoded.prices;
  throw new Error(`MODEL_PRICES: ${decoded.problem}`);
};

const entriesOf = (json: string): [string, unknown][] | undefined => {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? Object.entries(value) : undefined;
  } catch {
    return undefined;
  }
};

const problemOf = (name: string, price: unknown): string | undefined => {
  if (name === '') return 'a price needs the start of the name of a model';
  if (!isObject(price)) return `the price of "${name}" is not an object`;
  const unknown = Object.keys(price).find((field) => !fields.includes(field));
  if (unknown !== undefined) return `the price of "${name}" has no field "${unknown}"`;
  const missing = ['input', 'output'].find((field) => !Object.hasOwn(price, field));
  if (missing !== undefined) return `the price of "${name}" needs "${missing}"`;
  const bad = Object.entries(price).find(([, usd]) => !isUsd(usd));
  return bad && `"${bad[0]}" of "${name}" is not a number from 0 to ${usdMax}`;
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isUsd = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= usdMax;

/**
 * Tokens that a provider adds where tools are offered: some hundred.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview#pricing
 */
const addedTokensMax = 2000;

/** The most tokens of one answer where no setting says otherwise. */
export const answerTokensDefault = 8192;

/** The least answer for which a call is made near the end of a budget, in tokens. */
export const answerTokensMin = 256;

/** The longest answer, of `max` tokens at most, whose call costs so much at most; 0: not even the input. */
export const answerTokensWithin = (
  usd: number,
  max: number,
  costOfAnswer: (outputTokens: number) => number,
): number => {
  if (costOfAnswer(max) <= usd) return max;
  let [fits, exceeds] = [0, max];
  while (exceeds - fits > 1) {
    const middle = Math.floor((fits + exceeds) / 2);
    if (costOfAnswer(middle) <= usd) fits = middle;
    else exceeds = middle;
  }
  return fits;
};

/** The most tokens of a call, with the longest answer it may have. */
export type CallTokens = { readonly inputTokens: number; readonly outputTokens: number };

/** Weighs the whole conversation: once for a call. */
export const callTokensMax = (request: ModelRequest): CallTokens => ({
  inputTokens: inputTokensMax(request),
  outputTokens: request.outputTokensMax,
});

/** All input at the highest of its prices: no mixture of prices costs more. */
export const callCostMax = (plain: CallTokens, costOf: (usage: TokenUsage) => number): number => {
  const cached = { ...plain, cachedInputTokens: plain.inputTokens };
  const written = { ...plain, cacheWriteInputTokens: plain.inputTokens };
  return Math.max(costOf(plain), costOf(cached), costOf(written));
};

/** Providers count the pixels of an image, not its bytes, and scale a larger one down: none counts more for one. */
export const tokensPerImageMax = 10_000;

/** A token stands for at least one byte of text: usually for four, so that the true number is far lower. */
const inputTokensMax = ({ system, tools, history }: ModelRequest): number => {
  const texts = history.map((message) => ({ ...message, images: undefined }));
  const images = history.flatMap((message) => ('images' in message ? (message.images ?? []) : []));
  return (
    addedTokensMax +
    utf8Bytes(JSON.stringify({ system, tools, history: texts })) +
    images.length * tokensPerImageMax
  );
};

/** The status of a refusal that no provider charges for. A gateway's (502, 504) says nothing about the provider behind it. */
export const isUnchargedStatus = (status: number): boolean =>
  status !== 408 && (status < 500 || [500, 503, 529].includes(status));
