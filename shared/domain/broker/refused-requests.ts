/**
 * Requests of programs in sandboxes that no provider gets: those that make it fetch, run or keep something.
 *
 * A provider that fetches an address, runs code or keeps a conversation for a program would be a way around the sandbox's network; a
 * dearer way of serving would cost more than its price says. Both are refused by the name of the field (BR4).
 */
import { type BrokerProvider, type Fields, objectOf } from './provider.ts';

/** Each gives an answer that the provider made elsewhere, keeps something there, or has a price of its own. */
const foreignFields: Readonly<Record<BrokerProvider, readonly string[]>> = {
  anthropic: ['mcp_servers', 'container', 'context_management', 'inference_geo', 'speed'],
  openai: ['background', 'previous_response_id', 'conversation', 'prompt', 'web_search_options', 'audio'],
  gemini: ['cachedContent', 'cached_content'],
};
const plainTiers = ['auto', 'default', 'flex', 'standard', 'standard_only'];

/** A sentence for the first thing that is refused. */
export const foreignRequest = (provider: BrokerProvider, body: Fields): string | undefined => {
  const foreign = foreignFields[provider].find((name) => isAsked(body[name]));
  if (foreign !== undefined) return `${foreign} is not available inside a sandbox`;
  const tier = body['service_tier'] ?? body['serviceTier'];
  if (isAsked(tier) && !plainTiers.some((plain) => plain === tier))
    return 'this service tier is not available inside a sandbox';
  const { tools = [] } = body;
  if (!Array.isArray(tools) || !tools.every((tool) => isOwnTool(provider, tool)))
    return 'tools of the provider are not available inside a sandbox: offer functions';
  const address = addressIn(body, 0);
  return address && `${address}: a provider fetches nothing for a sandbox, so send the bytes`;
};

const isAsked = (value: unknown): boolean => value !== undefined && value !== null && value !== false;

/** Tools that the program itself runs. */
const isOwnTool = (provider: BrokerProvider, given: unknown): boolean => {
  const tool = objectOf(given);
  if (tool === undefined) return false;
  if (provider === 'gemini') return Object.keys(tool).every((key) => key === 'functionDeclarations');
  const { type } = tool;
  if (provider === 'openai') return type === 'function' || type === 'custom';
  return (
    type === undefined ||
    (typeof type === 'string' && /^(?:custom|(?:bash|text_editor|computer|memory)_\d+)$/.test(type))
  );
};

const addressFields = new Set([
  'image_url',
  'file_url',
  'server_url',
  'fileUri',
  'file_uri',
  'file_id',
  'video_url',
]);
/** Content of the program's own tools: no provider reads addresses in it. */
const plainFields = new Set([
  'input',
  'args',
  'response',
  'input_schema',
  'parameters',
  'functionDeclarations',
  'metadata',
]);
const depthMax = 30;

/** The first field by which a provider would fetch something. */
const addressIn = (value: unknown, depth: number): string | undefined => {
  if (depth > depthMax) return 'a request nested too deeply';
  if (Array.isArray(value)) return firstOf(value, (one) => addressIn(one, depth + 1));
  const fields = objectOf(value);
  if (fields === undefined) return undefined;
  const { type } = fields;
  if (type === 'url' || type === 'file') return `type ${type}`;
  return firstOf(Object.entries(fields), ([name, held]) => {
    if (addressFields.has(name) && !isInline(held)) return name;
    return isOwnContent(name, held) ? undefined : addressIn(held, depth + 1);
  });
};

/** The items of a request to OpenAI are its input; a call of a tool has its arguments under the same name. */
export const isOwnContent = (name: string, held: unknown): boolean =>
  plainFields.has(name) && !(name === 'input' && Array.isArray(held));

const firstOf = <Value>(
  values: readonly Value[],
  find: (value: Value) => string | undefined,
): string | undefined => {
  for (const value of values) {
    const found = find(value);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** The bytes themselves. */
const isInline = (held: unknown): boolean => {
  const address = objectOf(held)?.['url'] ?? held;
  return !isAsked(address) || (typeof address === 'string' && address.startsWith('data:'));
};
