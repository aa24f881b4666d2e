/**
 * Decoding at the edge: JSON text and unknown values become typed ones, or a list of problems.
 *
 * A problem names the field and the expected value and never repeats the given one: it may be a secret.
 */
import type * as z from 'zod';
import { isWellFormed } from '#shared/domain/json.ts';

export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string };

export const decode = <S extends z.ZodType>(schema: S, value: unknown): Decoded<z.output<S>> => {
  const result = schema.safeParse(value);
  if (result.success) return { ok: true, value: result.data };
  return { ok: false, problem: result.error.issues.slice(0, 5).map(describeIssue).join('; ') };
};

export const decodeJson = <S extends z.ZodType>(schema: S, text: string): Decoded<z.output<S>> => {
  try {
    const value: unknown = JSON.parse(text);
    if (surrogateEscape.test(text) && !isWellFormed(value))
      return { ok: false, problem: 'the text has half of a character: a surrogate without its pair' };
    return decode(schema, value);
  } catch {
    return { ok: false, problem: 'the text is not JSON' };
  }
};

/** Only an escape can produce half of a surrogate pair (RFC 8259, 8.2); no store takes it. */
const surrogateEscape = /\\u[dD][89a-fA-F]/;

const describeIssue = (issue: z.core.$ZodIssue): string => {
  const path = issue.path.map(String).join('.');
  return path === '' ? issue.message : `${path}: ${issue.message}`;
};

/** For values that the platform stored itself: another shape is its own fault, and the handler stops. */
export const decodeStored = <S extends z.ZodType>(schema: S, value: unknown): z.output<S> => {
  const result = decode(schema, value);
  if (result.ok) return result.value;
  throw new Error(`a stored record has an unknown shape: ${result.problem}`);
};
