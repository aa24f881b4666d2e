/**
 * Writes JSON in its one canonical form (RFC 8785), from which a digest is made. Half a surrogate pair has no such form and is
 * refused earlier.
 */
import type { Json } from './json.ts';

/** https://www.rfc-editor.org/rfc/rfc8785 */
export const canonicalJson = (value: Json): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, item]) => `${JSON.stringify(name)}:${canonicalJson(item)}`);
  return `{${members.join(',')}}`;
};
