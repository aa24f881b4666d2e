/**
 * Arguments without the fields that say nothing: models and strict clients fill every optional one, with null, an empty
 * text or an empty list.
 *
 * Required fields stay as they are, so that an empty file can be written. In a field of any type only null says nothing.
 */
import * as z from 'zod';

type Schema = z.core.$ZodType;
type Fields = Readonly<Record<string, unknown>>;

/** Optional lists whose empty value has a meaning of its own. */
export const meaningfulEmpty = z.registry<{ readonly meaning: string }>();

export const withoutAbsent = (schema: Schema, value: unknown): unknown => {
  const { def } = schema._zod as z.core.$ZodTypes['_zod'];
  switch (def.type) {
    case 'object':
      return isObject(value) ? ofObject(def.shape, value) : value;
    case 'array':
      return Array.isArray(value) ? value.map((item) => withoutAbsent(def.element, item)) : value;
    case 'union':
      return withoutAbsent(optionFor(def.options, value) ?? z.unknown(), value);
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'readonly':
      return withoutAbsent(def.innerType, value);
    case 'pipe':
      return withoutAbsent(def.in, value);
    default:
      return value;
  }
};

export const saysNothing = (value: unknown): boolean =>
  value === null || value === '' || (Array.isArray(value) && value.length === 0);

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const ofObject = (shape: Readonly<Record<string, Schema>>, value: Fields): Fields =>
  Object.fromEntries(
    Object.entries(value).flatMap(([key, field]) => {
      const schema = Object.hasOwn(shape, key) ? shape[key] : undefined;
      if (schema === undefined) return field === null ? [] : [[key, field]];
      return isAbsent(schema, field) ? [] : [[key, withoutAbsent(schema, field)]];
    }),
  );

const isAbsent = (schema: Schema, value: unknown): boolean => {
  if (schema._zod.optin === undefined || !saysNothing(value)) return false;
  if (value === null) return true;
  // Of a list only the empty list can have a meaning.
  return meaningfulEmpty.has(schema) ? !Array.isArray(value) : !isAnything(schema);
};

const isAnything = (schema: Schema): boolean => {
  const { def } = schema._zod as z.core.$ZodTypes['_zod'];
  return def.type === 'optional' ? isAnything(def.innerType) : def.type === 'unknown';
};

/** The alternative that the value names by its literals, such as its action. */
const optionFor = (options: readonly Schema[], value: unknown): Schema | undefined =>
  options.find((option) => {
    const { def } = option._zod as z.core.$ZodTypes['_zod'];
    if (def.type !== 'object' || !isObject(value)) return false;
    const literals = Object.entries(def.shape).filter(([, field]) => field._zod.def.type === 'literal');
    return literals.length > 0 && literals.every(([key, field]) => z.safeParse(field, value[key]).success);
  });
