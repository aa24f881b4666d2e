/**
 * Cache lifetimes of requests, limited to the lifetime that the price covers: a cache that is kept longer costs up to twice as much to write, which no
 * reservation has. A program is better served by the shorter time than by a refusal.
 *
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching and
 * https://developers.openai.com/api/docs/guides/prompt-caching
 */

import { type Fields, objectOf } from './provider.ts';
import { isOwnContent } from './refused-requests.ts';

/** The settings of a cache, of a whole request or at one place in it. */
const cacheFields = new Set(['cache_control', 'prompt_cache_options', 'prompt_cache_breakpoint']);

/** Not to be given what `foreignRequest` refuses for its depth. */
export const withoutCacheTimes = (body: Fields): Fields =>
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
