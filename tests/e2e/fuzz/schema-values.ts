/**
 * Values of a JSON schema, as the published contracts write them, and objects that miss one of it by a little.
 *
 * It reads the words that our contracts use; a word it does not know only makes its values wilder. Fields are
 * JSON texts, so that a key can come twice and a number can be too large to be one.
 */
import * as fc from 'fast-check';
import { wildJson, wildTexts } from './wild-values.ts';

export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema | boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
};

/** By name: a value that leads further in than any text would, or one that keeps a request short. */
export type Hints = Readonly<Record<string, readonly unknown[]>>;

type Reading = { readonly hints: Hints; readonly named?: string; readonly depth: number };

const depthMax = 4;
const textCharactersMax = 2000;

/** The JSON text of a value that fits. */
export const fitting = (schema: Schema, reading: Reading): fc.Arbitrary<string> => {
  const hints = reading.named === undefined ? undefined : reading.hints[reading.named];
  if (hints !== undefined) return fc.constantFrom(...hints).map((hint) => JSON.stringify(hint));
  const { const: only, enum: several, anyOf, oneOf, allOf } = schema;
  if (only !== undefined) return fc.constant(JSON.stringify(only));
  if (several !== undefined) return fc.constantFrom(...several).map((value) => JSON.stringify(value));
  const parts = anyOf ?? oneOf ?? allOf;
  if (parts !== undefined && reading.depth < depthMax)
    return fc.oneof(...parts.map((part) => fitting(part, reading)));
  return ofType(schema, reading);
};

const ofType = (schema: Schema, reading: Reading): fc.Arbitrary<string> => {
  switch ([schema.type].flat()[0]) {
    case 'string':
      return textOf(schema);
    case 'integer':
      return fc.integer(boundsOf(schema)).map(String);
    case 'number':
      return fc.integer(boundsOf(schema)).map((value) => String(value));
    case 'boolean':
      return fc.constantFrom('true', 'false');
    case 'null':
      return fc.constant('null');
    case 'array':
      return arrayOf(schema, reading);
    case 'object':
      return joined(fieldsOf(schema, reading));
    default:
      return wildJson;
  }
};

const textOf = ({ format, minLength = 0, maxLength = textCharactersMax }: Schema): fc.Arbitrary<string> => {
  if (format === 'uuid')
    return fc.oneof(fc.constant('{{nothing}}'), fc.uuid()).map((id) => JSON.stringify(id));
  const longest = Math.min(maxLength, textCharactersMax);
  return fc
    .oneof(
      {
        weight: 3,
        arbitrary: fc.string({ minLength, maxLength: Math.max(minLength, Math.min(longest, 30)) }),
      },
      { weight: 1, arbitrary: fc.constantFrom('x'.repeat(longest), 'x'.repeat(longest + 1), '{{nothing}}') },
    )
    .map((text) => JSON.stringify(text));
};

const boundsOf = ({ minimum = -1000, maximum = 100_000 }: Schema): { min: number; max: number } => {
  const min = Math.ceil(Math.max(minimum, -(2 ** 31)));
  return { min, max: Math.max(min, Math.floor(Math.min(maximum, 2 ** 31 - 1))) };
};

const arrayOf = ({ items }: Schema, reading: Reading): fc.Arbitrary<string> => {
  const item =
    typeof items === 'object' && reading.depth < depthMax ? fitting(items, deeper(reading)) : wildJson;
  return fc.array(item, { maxLength: 4 }).map((texts) => `[${texts.join(',')}]`);
};

type Field = readonly [name: string, json: string];

const deeper = ({ hints, depth }: Reading, named?: string): Reading => ({
  hints,
  depth: depth + 1,
  ...(named === undefined ? {} : { named }),
});

const fieldsOf = (schema: Schema, reading: Reading): fc.Arbitrary<readonly Field[]> => {
  const { properties = {}, required = [] } = schema;
  if (reading.depth >= depthMax) return fc.constant([]);
  const fields = Object.entries(properties).map(([name, field]) => {
    const given = fitting(field, deeper(reading, name)).map((json): readonly Field[] => [[name, json]]);
    return required.includes(name) ? given : fc.oneof(given, fc.constant<readonly Field[]>([]));
  });
  return fc.tuple(...fields).map((some) => some.flat());
};

const joined = (fields: fc.Arbitrary<readonly Field[]>): fc.Arbitrary<string> =>
  fields.map((some) => `{${some.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`);

const strangeNames = fc.oneof(
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    '',
    'pk',
    'sk',
    'ttl',
    'owner',
    'scope',
    '\ud800',
    '$ref',
  ),
  wildTexts,
);

/** An object of the schema in which something may be missing, wrong, repeated or too much; at times none at all. */
export const mistaken = (schema: Schema, hints: Hints): fc.Arbitrary<string> => {
  const right = fieldsOf(schema, { hints, depth: 0 });
  const names = Object.keys(schema.properties ?? {});
  const nameOf = names.length === 0 ? strangeNames : fc.constantFrom(...names);
  const without = fc.tuple(right, nameOf).map(([fields, gone]) => fields.filter(([name]) => name !== gone));
  const wrong = fc
    .tuple(right, nameOf, wildJson)
    .map(([fields, name, json]): readonly Field[] => [
      ...fields.filter(([other]) => other !== name),
      [name, json],
    ]);
  const more = fc.tuple(right, strangeNames, wildJson);
  const added = more.map(([fields, name, json]): readonly Field[] => [...fields, [name, json]]);
  const twice = fc.tuple(right, nameOf, wildJson);
  const repeated = twice.map(([fields, name, json]): readonly Field[] => [
    [name, json],
    ...fields,
    [name, json],
  ]);
  const nulls = right.map((fields) => fields.map(([name]): Field => [name, 'null']));
  return fc.oneof(
    { weight: 3, arbitrary: joined(right) },
    { weight: 2, arbitrary: joined(without) },
    { weight: 6, arbitrary: joined(wrong) },
    { weight: 2, arbitrary: joined(added) },
    { weight: 1, arbitrary: joined(repeated) },
    { weight: 1, arbitrary: joined(nulls) },
    { weight: 2, arbitrary: wildJson },
  );
};
