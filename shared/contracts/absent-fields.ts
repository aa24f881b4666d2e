/**
 * Values of clients without the fields that say nothing. A rule says which those are, and follows a union into the alternative that
 * the value is.
 *
 * In JSON, null says nothing in an optional field: programs of many languages write a field without a value like that.
 */
import * as z from 'zod';
import { unknownFields } from './decode.ts';

export type Schema = z.core.$ZodType;
type Fields = Readonly<Record<string, unknown>>;
type Shape = Readonly<Record<string, Schema>>;

export type AbsenceRule = {
  readonly isAbsent: (shape: Shape, key: string, value: unknown) => boolean;
  /** Undefined: the value stays as it is. */
  readonly alternativeOf: (options: readonly Schema[], value: unknown) => Schema | undefined;
};

export const withoutFields = (rule: AbsenceRule, schema: Schema, value: unknown): unknown => {
  const { def } = schema._zod as z.core.$ZodTypes['_zod'];
  switch (def.type) {
    case 'object':
      return isObject(value) ? ofObject(rule, def.shape, value) : value;
    case 'array':
      return Array.isArray(value) ? value.map((item) => withoutFields(rule, def.element, item)) : value;
    case 'union': {
      const alternative = rule.alternativeOf(def.options, value);
      return alternative === undefined ? value : withoutFields(rule, alternative, value);
    }
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'readonly':
      return withoutFields(rule, def.innerType, value);
    case 'pipe':
      return withoutFields(rule, def.in, value);
    default:
      return value;
  }
};

/**
 * A null stays where it means something: in a field that takes null or any value, in every field of an object in which null
 * removes some (so that it removes nothing unnoticed), in lists, and in a client's own objects. So it does in required fields and in unknown
 * ones, which are refused by name.
 */
export const withoutNulls = (schema: Schema, value: unknown): unknown =>
  withoutFields(ofNulls, schema, value);

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const ofObject = (rule: AbsenceRule, shape: Shape, value: Fields): Fields =>
  Object.fromEntries(
    Object.entries(value).flatMap(([key, field]) => {
      if (rule.isAbsent(shape, key, field)) return [];
      const schema = fieldOf(shape, key);
      return [[key, schema === undefined ? field : withoutFields(rule, schema, field)]];
    }),
  );

export const fieldOf = (shape: Shape, key: string): Schema | undefined =>
  Object.hasOwn(shape, key) ? shape[key] : undefined;

/** The alternative that the value names by its literals, such as its action. */
export const namedAlternative = (options: readonly Schema[], value: unknown): Schema | undefined =>
  options.find((option) => {
    const { def } = option._zod as z.core.$ZodTypes['_zod'];
    if (def.type !== 'object' || !isObject(value)) return false;
    const literals = Object.entries(def.shape).filter(([, field]) => field._zod.def.type === 'literal');
    return literals.length > 0 && literals.every(([key, field]) => z.safeParse(field, value[key]).success);
  });

/** The first of the objects that know most of the value's fields. */
const fittingAlternative = (options: readonly Schema[], value: unknown): Schema | undefined => {
  const objects = options.filter(({ _zod }) => _zod.def.type === 'object');
  const unknown = objects.map((option) => unknownFields(option, value).length);
  return objects[unknown.indexOf(Math.min(...unknown))];
};

const ofNulls: AbsenceRule = {
  isAbsent: (shape, key, value) => value === null && absentAsNull(shape).has(key),
  alternativeOf: (options, value) => namedAlternative(options, value) ?? fittingAlternative(options, value),
};

/** Kept, since a list may have an object for every few bytes of a large body. */
const absentByShape = new WeakMap<Shape, ReadonlySet<string>>();

const absentAsNull = (shape: Shape): ReadonlySet<string> => {
  const known = absentByShape.get(shape);
  if (known !== undefined) return known;
  const fields = Object.entries(shape);
  const optional = fields.filter(([, field]) => field._zod.optin !== undefined);
  const absent = fields.some(([, field]) => isCleared(field))
    ? []
    : optional.filter(([, field]) => !z.safeParse(field, null).success);
  const names = new Set(absent.map(([name]) => name));
  absentByShape.set(shape, names);
  return names;
};

/** True for a field that a client removes with null. */
const isCleared = (schema: Schema): boolean => {
  const { def } = schema._zod as z.core.$ZodTypes['_zod'];
  return def.type === 'nullable' || (def.type === 'optional' && isCleared(def.innerType));
};
