/**
 * A request of a program inside a sandbox to a model provider, in the provider's own wire format: parsed, bounded, and refused
 * if it is none.
 *
 * Only the paths that answer a conversation or count its tokens exist. An answer without a limit gets one, a streamed answer
 * reports its usage, caches live for their usual time, and nothing else is kept at the provider. Everything else of the format
 * passes, except the requests that `refused-requests.ts` refuses.
 */
import { foreignMedia } from './media.ts';
import { type BrokerProvider, type Fields, objectOf } from './provider.ts';
import { foreignRequest, isOwnContent } from './refused-requests.ts';

export type BrokerCall = {
  readonly provider: BrokerProvider;
  /** As the provider has it, after the base of its address. */
  readonly path: string;
  readonly model: string;
  /** Counting tokens costs nothing. */
  readonly isCount: boolean;
  readonly isStreamed: boolean;
  readonly outputTokensMax: number;
  readonly body: Fields;
};

export type BrokerRefusal = { readonly status: number; readonly message: string };

type Read =
  | { readonly ok: true; readonly call: BrokerCall }
  | { readonly ok: false; readonly refusal: BrokerRefusal };

export type BrokerRequest = {
  readonly provider: BrokerProvider;
  readonly method: string;
  /** With its query, as the program wrote it. */
  readonly path: string;
  /** Parsed; undefined when it is no JSON. */
  readonly body: unknown;
  /** The most that one answer may have, where the request bounds it less or not at all. */
  readonly outputTokensMax: number;
};

/** Some servers put an owner before a name. */
const modelPattern = /^[\w.:@/-]{1,256}$/;
const pathCharactersShown = 100;

export const readBrokerCall = (request: BrokerRequest): Read => {
  const { provider, method, path } = request;
  const route = method === 'POST' ? routes[provider](locationOf(path)) : undefined;
  if (route === undefined) return refused(404, `there is no ${method} ${path.slice(0, pathCharactersShown)}`);
  const body = objectOf(request.body);
  if (body === undefined) return refused(400, 'the body is not a JSON object');
  const model = route.model ?? body['model'];
  if (typeof model !== 'string' || !modelPattern.test(model)) return refused(400, 'the body names no model');
  const problem = foreignRequest(provider, body);
  if (problem !== undefined) return refused(403, problem);
  const media = foreignMedia(body);
  if (media !== undefined)
    return refused(403, `${media} is not available inside a sandbox: send text or images`);
  const call = {
    ...{ provider, path: route.path, model, isCount: route.isCount },
    isStreamed: route.isStreamed ?? body['stream'] === true,
  };
  if (route.isCount) return { ok: true, call: { ...call, outputTokensMax: 0, body } };
  const outputTokensMax = outputBound(request, route, body);
  const bounded = boundedBody(call, withoutCacheTimes(body), outputTokensMax);
  return { ok: true, call: { ...call, outputTokensMax, body: bounded } };
};

/** The same call with a shorter answer. */
export const boundedCall = (call: BrokerCall, outputTokensMax: number): BrokerCall => ({
  ...{ ...call, outputTokensMax },
  body: boundedBody(call, call.body, outputTokensMax),
});

type Route = Pick<BrokerCall, 'path' | 'isCount'> & {
  readonly model?: string;
  readonly isStreamed?: boolean;
  /** The fields that may bound an answer, the first that is given. */
  readonly bounds: readonly string[];
};

type Location = { readonly pathname: string; readonly query: readonly string[] };

const locationOf = (path: string): Location => {
  const [pathname = '', query = ''] = path.split('?', 2);
  return { pathname, query: query.split('&') };
};

/** Of a query only what the wire needs is read: a key in it goes nowhere. */
const routes: Readonly<Record<BrokerProvider, (location: Location) => Route | undefined>> = {
  anthropic: ({ pathname: path }) =>
    path === '/v1/messages' || path === '/v1/messages/count_tokens'
      ? { path, isCount: path !== '/v1/messages', bounds: ['max_tokens'] }
      : undefined,
  openai: ({ pathname }) => {
    const path = pathname.replace(/^\/v1\//, '/');
    if (path === '/responses') return { path, isCount: false, bounds: ['max_output_tokens'] };
    const bounds = ['max_completion_tokens', 'max_tokens'];
    return path === '/chat/completions' ? { path, isCount: false, bounds } : undefined;
  },
  gemini: ({ pathname, query }) => {
    const [, version, model = '', verb] =
      /^\/(v1|v1beta)\/models\/([^/]+):(generateContent|streamGenerateContent|countTokens)$/.exec(pathname) ??
      [];
    const isStreamed = verb === 'streamGenerateContent';
    if (version === undefined || (isStreamed && !query.includes('alt=sse'))) return undefined;
    return {
      path: `/${version}/models/${model}:${verb}${isStreamed ? '?alt=sse' : ''}`,
      ...{ model, isStreamed, isCount: verb === 'countTokens', bounds: ['maxOutputTokens'] },
    };
  },
};

const outputBound = (
  { provider, outputTokensMax }: BrokerRequest,
  { bounds }: Route,
  body: Fields,
): number => {
  const within = provider === 'gemini' ? geminiConfig(body).config : body;
  const given = bounds.map((bound) => within[bound]).find((bound) => bound !== undefined && bound !== null);
  const isBound = typeof given === 'number' && Number.isInteger(given) && given > 0;
  return isBound ? Math.min(given, outputTokensMax) : outputTokensMax;
};

/**
 * The wire takes each field in two spellings, and of a field that comes twice the later one: those that bound an answer are kept in one.
 * https://protobuf.dev/programming-guides/json/
 */
const geminiConfig = (body: Fields): { readonly config: Fields; readonly rest: Fields } => {
  const { generationConfig, generation_config: other, ...rest } = body;
  const given = { ...objectOf(other), ...objectOf(generationConfig) };
  const {
    maxOutputTokens,
    max_output_tokens: spelt,
    candidateCount: _,
    candidate_count: __,
    ...config
  } = given;
  const bound = maxOutputTokens ?? spelt;
  return { rest, config: bound === undefined ? config : { ...config, maxOutputTokens: bound } };
};

const boundedBody = (
  { provider, path, isStreamed }: Pick<BrokerCall, 'provider' | 'path' | 'isStreamed'>,
  body: Fields,
  max: number,
): Fields => {
  if (provider === 'anthropic') return { ...body, max_tokens: max };
  if (provider === 'gemini') {
    const { config, rest } = geminiConfig(body);
    return { ...rest, generationConfig: { ...config, candidateCount: 1, maxOutputTokens: max } };
  }
  if (path === '/responses') return { ...body, max_output_tokens: max, store: false };
  const { max_tokens: older, ...rest } = body;
  // Servers of the older wire know only the older name.
  const bound = rest['max_completion_tokens'] === undefined && older !== undefined;
  return {
    ...rest,
    ...(isStreamed ? { stream_options: { include_usage: true } } : {}),
    ...{ n: 1, [bound ? 'max_tokens' : 'max_completion_tokens']: max },
    ...('store' in body ? { store: false } : {}),
  };
};

const refused = (status: number, message: string): Read => ({ ok: false, refusal: { status, message } });

/** The settings of a cache, of a whole request or at one place in it. */
const cacheFields = new Set(['cache_control', 'prompt_cache_options', 'prompt_cache_breakpoint']);

/**
 * Cache lifetimes are limited to the one that the price covers: a cache that is kept longer costs up to twice as much to write, which no
 * reservation has. A program is better served by the shorter time than by a refusal
 * (https://platform.claude.com/docs/en/build-with-claude/prompt-caching, https://developers.openai.com/api/docs/guides/prompt-caching).
 * Not to be given what `foreignRequest` refuses for its depth.
 */
const withoutCacheTimes = (body: Fields): Fields =>
  Object.fromEntries(Object.entries(body).map(([name, held]) => [name, shortened(name, held)]));

const shortened = (name: string, held: unknown): unknown => {
  if (isOwnContent(name, held)) return held;
  if (Array.isArray(held)) return held.map((one) => shortened('', one));
  const fields = objectOf(held);
  if (fields === undefined) return held;
  if (!cacheFields.has(name)) return withoutCacheTimes(fields);
  const { ttl: _, ...settings } = fields;
  return settings;
};
