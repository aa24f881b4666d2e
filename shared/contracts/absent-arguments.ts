/**
 * Arguments without their empty fields: models and strict clients fill every optional field, with null, an empty text or an
 * empty list.
 *
 * Required fields stay as they are, so that an empty file can be written. In a field of any type only null counts as empty.
 */
import * as z from 'zod';
import { type AbsenceRule, fieldOf, namedAlternative, type Schema, withoutFields } from './absent-fields.ts';

/** Optional lists whose empty value has a meaning of its own. */
export const meaningfulEmpty = z.registry<{ readonly meaning: string }>();

export const withoutAbsent = (schema: Schema, value: unknown): unknown =>
  withoutFields(ofArguments, schema, value);

export const saysNothing = (value: unknown): boolean =>
  value === null || value === '' || (Array.isArray(value) && value.length === 0);

const ofArguments: AbsenceRule = {
  isAbsent: (shape, key, value) => {
    const schema = fieldOf(shape, key);
    return schema === undefined ? value === null : isAbsent(schema, value);
  },
  alternativeOf: namedAlternative,
};

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
