/**
 * Reads the variables of a process by a schema of settings. Every invalid one becomes a line that says what is allowed. The
 * value of a secret is never shown.
 */
import * as z from 'zod';
import { languages, type NamedTemplate } from '../domain/template.ts';
import type { Group, ValuesOf } from './group.ts';
import { oidcCompanions } from './oidc-settings.ts';
import { providerKeys, signedCompanion } from './settings.ts';

/** Raw variables, as in a process environment. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Never shown. A hash is among them because a wrong value may be the token itself. */
const secretNames: readonly string[] = [
  'ADMIN_TOKEN_SHA256',
  'SALLYPORT_TOKEN',
  ...providerKeys,
  'OIDC_CLIENT_SECRET',
  'SANDBOX_SECRET',
];

type ReadResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads the group's keys, and only those; every bad one is one line, a secret's value never shown. */
export const readVariables = <S extends z.ZodRawShape>(
  { shape }: Group<S>,
  variables: Variables,
): ReadResult<ValuesOf<Group<S>>> => {
  const schema = z.object(shape) as unknown as z.ZodObject<S>;
  const given = Object.fromEntries(
    Object.keys(schema.shape).flatMap((key) => (variables[key] ? [[key, variables[key]]] : [])),
  );
  // It reads once: code that zod makes for a schema pays for itself with many values.
  const result = schema.safeParse(given, { jitless: true });
  const issues = result.success ? [] : result.error.issues;
  const names = [...new Set(issues.map((issue) => String(issue.path[0])))];
  const problems = [
    ...names.map((name) => problem(schema, { name, value: given[name] })),
    ...alone(schema, given),
    ...(result.success ? unknownTemplate(schema, result.data) : []),
  ];
  return result.success && problems.length === 0 ? { ok: true, value: result.data } : { ok: false, problems };
};

/** A line for each variable that is missing beside one that is set. */
const alone = (schema: z.ZodObject, given: Variables): readonly string[] => {
  const missing = oidcCompanions.filter(
    ([name, other]) => given[name] !== undefined && given[other] === undefined,
  );
  const lines = missing.map(([name, other]) => required(schema, other, name));
  const [name, value, other] = signedCompanion;
  const isAlone = given[name] === value && Object.hasOwn(schema.shape, other) && given[other] === undefined;
  return isAlone ? [...lines, required(schema, other, `${name}=${value}`)] : lines;
};

const required = (schema: z.ZodObject, name: string, beside: string): string =>
  `${name} is required with ${beside}: set it to ${descriptionOf(schema.shape[name] as z.ZodType)}`;

type TemplateSettings = {
  readonly MSB_DEFAULT_TEMPLATE?: string;
  readonly SANDBOX_TEMPLATES?: readonly NamedTemplate[];
};

const unknownTemplate = (schema: z.ZodObject, settings: TemplateSettings): readonly string[] => {
  const { MSB_DEFAULT_TEMPLATE: value, SANDBOX_TEMPLATES: named = [] } = settings;
  const known: readonly string[] = [...languages, ...named.map(({ name }) => name)];
  return value === undefined || known.includes(value)
    ? []
    : [problem(schema, { name: 'MSB_DEFAULT_TEMPLATE', value })];
};

const problem = (
  schema: z.ZodObject,
  { name, value }: { name: string; value: string | undefined },
): string => {
  const allowed = descriptionOf(schema.shape[name] as z.ZodType);
  if (value === undefined) return `${name} is required: set it to ${allowed}`;
  const shown = secretNames.includes(name) ? '(hidden)' : JSON.stringify(value.slice(0, 80));
  return `${name}=${shown} is not allowed: set it to ${allowed}`;
};

/** The description of the innermost schema that has one: defaults and options wrap it. */
const descriptionOf = (schema: z.ZodType): string => {
  if (schema.description !== undefined) return schema.description;
  const inner: unknown = Reflect.get(schema.def, 'innerType') ?? Reflect.get(schema.def, 'out');
  return inner instanceof z.ZodType ? descriptionOf(inner) : 'another value';
};
