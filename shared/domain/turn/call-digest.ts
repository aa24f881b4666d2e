/**
 * The text that a call's digest is made of: the canonical JSON of all that a person approves.
 *
 * RFC 8785 is JSON as ECMAScript writes it, with the names of each object in the order of their UTF-16 code units. It has
 * no form for half a surrogate pair, so such arguments are refused before they come here.
 * The SHA-256 of this text, in UTF-8, is the digest; any holder of the call can compute it again.
 */
import type { CallId, TurnId } from '../ids.ts';
import type { Json, JsonObject } from '../json.ts';

export type DigestedCall = {
  readonly turnId: TurnId;
  readonly callId: CallId;
  readonly name: string;
  readonly args: JsonObject;
};

export const digestText = ({ turnId, callId, name, args }: DigestedCall): string =>
  canonicalJson({ args, callId, name, turnId });

/** https://www.rfc-editor.org/rfc/rfc8785 */
export const canonicalJson = (value: Json): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, item]) => `${JSON.stringify(name)}:${canonicalJson(item)}`);
  return `{${members.join(',')}}`;
};
