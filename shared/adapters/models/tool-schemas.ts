/**
 * The tools of a request in the form that every provider takes.
 *
 * A server may describe the arguments of a tool by several forms at once, leave out what has none, and have lists of anything.
 * Providers refuse the whole request for one such tool, and so would fail each turn of its project. The model reads in the
 * description whatever is folded away here, and the tool itself still checks it.
 */
import type { Json, JsonObject } from '#shared/domain/json.ts';
import type { ToolSpec } from '#shared/domain/model.ts';

/** No provider takes all of these at the top of a schema, nor a reference in its place. */
const foldedKeywords = ['allOf', 'anyOf', 'oneOf', 'not', 'enum', '$ref'] as const;
/** Characters of folded keywords in a description: longer ones are left to the tool. */
const foldedCharactersMax = 2000;

type OfferedTool = ToolSpec & { readonly inputSchema: JsonObject & { readonly type: 'object' } };

export const takenTool = ({ name, description, inputSchema }: ToolSpec): OfferedTool => {
  const given = withItems(inputSchema);
  if (isPlain(given)) return { name, description, inputSchema: given };
  const isFolded = (keyword: string): boolean => foldedKeywords.some((folded) => folded === keyword);
  const kept = Object.entries(given).filter(([keyword]) => !isFolded(keyword) && keyword !== 'required');
  const folded = Object.entries(given).filter(([keyword]) => isFolded(keyword));
  const { properties, required } = argumentsOf(given, given, new Set());
  return {
    name,
    description: folded.length === 0 ? description : withFolded(description, Object.fromEntries(folded)),
    inputSchema: {
      ...Object.fromEntries(kept),
      type: 'object',
      properties: Object.fromEntries([...properties].map(([key, forms]) => [key, oneOfForms(forms)])),
      ...(required.size === 0 ? {} : { required: [...required] }),
    },
  };
};

/** One form, with arguments by name: it stays as it was written. */
const isPlain = (schema: JsonObject): schema is OfferedTool['inputSchema'] => {
  const { type, properties, required = [] } = schema;
  const isNamed = Array.isArray(required) && required.every((key) => typeof key === 'string');
  const isFolded = foldedKeywords.some((keyword) => Object.hasOwn(schema, keyword));
  return type === 'object' && objectOf(properties) !== undefined && isNamed && !isFolded;
};

const withFolded = (description: string, folded: JsonObject): string => {
  const json = JSON.stringify(folded);
  if (json.length > foldedCharactersMax) return description;
  return `${description}\n\nIts arguments also match this JSON schema: ${json}`.trim();
};

/** The forms of each argument, and those that every form of the whole needs. */
type Arguments = {
  readonly properties: ReadonlyMap<string, readonly Json[]>;
  readonly required: ReadonlySet<string>;
};

const noArguments: Arguments = { properties: new Map(), required: new Set() };

/** A schema is read once, so that a reference to itself ends. */
const argumentsOf = (schema: Json | undefined, root: JsonObject, seen: Set<JsonObject>): Arguments => {
  const fields = objectOf(schema);
  if (fields === undefined || seen.has(fields)) return noArguments;
  seen.add(fields);
  const { properties, required, allOf, anyOf, oneOf, $ref } = fields;
  const own: Arguments = {
    properties: new Map(Object.entries(objectOf(properties) ?? {}).map(([key, form]) => [key, [form]])),
    required: new Set(listOf(required).filter((key) => typeof key === 'string')),
  };
  const read = (part: Json | undefined): Arguments => argumentsOf(part, root, seen);
  const also = [...listOf(allOf), ...($ref === undefined ? [] : [referred($ref, root)])].map(read);
  const either = [anyOf, oneOf].map((forms) => eitherOf(listOf(forms).map(read)));
  return [...also, ...either].reduce(bothOf, own);
};

/** The first decides about its arguments; the second only adds others. */
const bothOf = (one: Arguments, other: Arguments): Arguments => ({
  properties: new Map([...other.properties, ...one.properties]),
  required: one.required.union(other.required),
});

const eitherOf = (forms: readonly Arguments[]): Arguments => {
  const properties = new Map<string, Json[]>();
  for (const form of forms)
    for (const [key, some] of form.properties) properties.set(key, [...(properties.get(key) ?? []), ...some]);
  const [first = noArguments, ...others] = forms;
  return {
    properties,
    required: others.reduce((all, { required }) => all.intersection(required), first.required),
  };
};

const oneOfForms = (forms: readonly Json[]): Json => {
  const distinct = new Map(forms.map((form) => [JSON.stringify(form), form]));
  const [only = {}, ...others] = distinct.values();
  return others.length === 0 ? only : { anyOf: [only, ...others] };
};

/** A place of the same schema, by a pointer (RFC 6901). */
const referred = ($ref: Json, root: JsonObject): Json | undefined => {
  if (typeof $ref !== 'string' || !$ref.startsWith('#/')) return undefined;
  const steps = $ref.slice(2).split('/');
  return steps.reduce<Json | undefined>((place, step) => {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    const fields = objectOf(place);
    return fields !== undefined && Object.hasOwn(fields, key) ? fields[key] : undefined;
  }, root);
};

/** Keywords whose values are schemas, lists of schemas, or schemas by name. */
const schemaKeywords = new Set(['items', 'additionalProperties', 'contains', 'not', 'if', 'then', 'else']);
const listKeywords = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const namedKeywords = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);

/** A list says what is in it; a list of the older form has its first items by their place. */
const withItems = (schema: JsonObject): JsonObject => {
  const fields = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, deeper(key, value)]));
  const { type, items, prefixItems } = fields;
  if (Array.isArray(items)) return { ...fields, prefixItems: prefixItems ?? items.map(schemaIn), items: {} };
  const isList = type === 'array' || (Array.isArray(type) && type.includes('array'));
  return isList && items === undefined ? { ...fields, items: {} } : fields;
};

const deeper = (key: string, value: Json): Json => {
  if (schemaKeywords.has(key)) return schemaIn(value);
  if (listKeywords.has(key) && Array.isArray(value)) return value.map(schemaIn);
  const named = namedKeywords.has(key) ? objectOf(value) : undefined;
  if (named === undefined) return value;
  return Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, schemaIn(schema)]));
};

const schemaIn = (value: Json): Json => {
  const schema = objectOf(value);
  return schema === undefined ? value : withItems(schema);
};

const objectOf = (value: Json | undefined): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
