/**
 * Decoding at the edge: JSON text and unknown values become typed ones, or a list of problems.
 *
 * A problem names the field and the expected value and never repeats the given one: it may be a secret.
 */
import type * as z from 'zod';
import { isWellFormed } from '#shared/domain/json.ts';
import { describeIssues, inPlainWords } from './issue-text.ts';

export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string };

export const decode = <S extends z.ZodType>(schema: S, value: unknown): Decoded<z.output<S>> => {
  const result = schema.safeParse(value, inPlainWords);
  if (result.success) return { ok: true, value: result.data };
  return { ok: false, problem: describeIssues(result.error.issues, 'the value') };
};

export const decodeJson = <S extends z.ZodType>(schema: S, text: string): Decoded<z.output<S>> => {
  try {
    const value: unknown = JSON.parse(text);
    if (surrogateEscape.test(text) && !isWellFormed(value))
      return { ok: false, problem: `the text has ${halfOfCharacter}` };
    return decode(schema, value);
  } catch {
    return { ok: false, problem: 'the text is not JSON' };
  }
};

export const halfOfCharacter = 'half of a character: a surrogate without its pair';

/** Only an escape can produce half of a surrogate pair (RFC 8259, 8.2); no store takes it. */
const surrogateEscape = /\\u[dD][89a-fA-F]/;

/** For values that the platform stored itself: another shape is its own fault, and the handler stops. */
export const decodeStored = <S extends z.ZodType>(schema: S | (() => S), value: unknown): z.output<S> => {
  const result = decode(typeof schema === 'function' ? schema() : schema, value);
  if (result.ok) return result.value;
  throw new Error(`a stored record has an unknown shape: ${result.problem}`);
};

type Schema = z.core.$ZodType;
type Path = readonly string[];

/**
 * The fields of a value that its contract does not know, as paths (`targets.0.name`) in the order of the value: in its
 * objects, in lists of them, in the alternatives of a union. An object whose contract is loose, and a value of any kind,
 * may hold anything. A record may have any key but `__proto__`, which schemas drop without a word. Schemas stay lenient, since the same ones read what clients send over a socket, where unknown
 * fields are ignored.
 */
export const unknownFields = (schema: Schema, value: unknown): readonly string[] =>
  unknownWithin(schema as z.core.$ZodTypes, value).map((path) => path.join('.'));

const unknownWithin = (schema: z.core.$ZodTypes, value: unknown): readonly Path[] => {
  const { def } = schema._zod;
  switch (def.type) {
    case 'object':
      return def.catchall === undefined ? ofObject(def.shape, value) : [];
    case 'array':
      return Array.isArray(value)
        ? value.flatMap((item, index) => below(String(index), def.element, item))
        : [];
    case 'record':
      return isObject(value)
        ? Object.entries(value).flatMap(([key, item]) =>
            key === '__proto__' ? [[key]] : below(key, def.valueType, item),
          )
        : [];
    case 'union':
      return def.options
        .map((option) => unknownWithin(option as z.core.$ZodTypes, value))
        .reduce((one, other) => (other.length < one.length ? other : one));
    case 'pipe':
      return unknownWithin(def.in as z.core.$ZodTypes, value);
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'readonly':
      return unknownWithin(def.innerType as z.core.$ZodTypes, value);
    default:
      return [];
  }
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const ofObject = (shape: Readonly<Record<string, Schema>>, value: unknown): readonly Path[] => {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const known = Object.hasOwn(shape, key) ? shape[key] : undefined;
    return known === undefined ? [[key]] : below(key, known, item);
  });
};

const below = (key: string, schema: Schema, value: unknown): readonly Path[] =>
  unknownWithin(schema as z.core.$ZodTypes, value).map((path) => [key, ...path]);
