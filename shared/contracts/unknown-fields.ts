/**
 * Finds the fields of a value that its contract does not know: in its objects, in lists of them, in the
 * alternatives of a union. An object whose contract is loose, and a value of any kind, may hold anything.
 *
 * Schemas stay lenient, since the same ones read what clients send over a socket, where unknown fields are
 * ignored.
 */
import type * as z from 'zod';

type Schema = z.core.$ZodType;

/** As paths, `targets.0.name`, in the order of the value. */
export const unknownFields = (schema: Schema, value: unknown): readonly string[] =>
  unknownWithin(schema as z.core.$ZodTypes, value).map((path) => path.join('.'));

type Path = readonly string[];

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
        ? Object.entries(value).flatMap(([key, item]) => below(key, def.valueType, item))
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
