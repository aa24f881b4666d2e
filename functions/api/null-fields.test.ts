/** A field that a body may leave out may be null as well, in every body and at every depth, unless null means something there. */
import { expect, test } from 'vitest';
import type * as z from 'zod';
import { decode } from '#shared/contracts/decode.ts';
import type { ApiEvent } from './api-route.ts';
import { declaredRoutes, openRoutes } from './openapi/document.ts';
import { knownBody } from './request-body.ts';

type Path = readonly (string | number)[];
type Field = { readonly path: Path; readonly isOptional: boolean; readonly schema: z.core.$ZodType };

const fieldsOf = (schema: z.core.$ZodType, at: Path = []): readonly Field[] => {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'object':
      return Object.entries(def.shape as Readonly<Record<string, z.core.$ZodType>>).flatMap(
        ([name, field]) => {
          const path = [...at, name];
          return [
            { path, isOptional: field._zod.optin !== undefined, schema: field },
            ...fieldsOf(field, path),
          ];
        },
      );
    case 'array':
      return fieldsOf(def.element, [...at, 0]);
    case 'record':
      // Of objects there is none: a walk through the values would need to know them.
      expect(fieldsOf(def.valueType)).toEqual([]);
      return [];
    case 'union':
      return def.options.flatMap((option) => fieldsOf(option, at));
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'readonly':
    case 'nonoptional':
      return fieldsOf(def.innerType, at);
    case 'pipe':
      return fieldsOf(def.in, at);
    default:
      return [];
  }
};

/** With what is above it alone; undefined: without the field itself. */
const withField = (path: Path, value: unknown): unknown => {
  const [step, ...below] = path;
  if (step === undefined) return value;
  const inner = withField(below, value);
  if (step === 0) return [inner];
  return inner === undefined ? {} : { [step]: inner };
};

const read = (schema: z.ZodType, body: unknown) =>
  knownBody({ body: JSON.stringify(body), isBase64Encoded: false } as unknown as ApiEvent, schema);

const bodies = [...declaredRoutes(), ...openRoutes].flatMap(({ method, path, contract: { body } }) =>
  body === undefined || body === 'bytes' ? [] : [[`${method} ${path}`, body] as const],
);

test.each(bodies)('%s', (route, schema) => {
  const optional = fieldsOf(schema).filter(({ isOptional }) => isOptional);
  const refused = optional.filter(({ path, schema: field }) => {
    const isKept = JSON.stringify(read(schema, withField(path, null))).includes('null');
    if (!isKept) expect(read(schema, withField(path, null))).toEqual(withField(path, undefined));
    return isKept && !decode(field as z.ZodType, null).ok;
  });
  expect(refused.map(({ path }) => path.join('.'))).toEqual(refusedWhereNullRemoves[route] ?? []);
});

/** Null removes the other fields of these bodies, so that for these it is refused, and not ignored. */
const refusedWhereNullRemoves: Readonly<Record<string, readonly string[]>> = {
  'PATCH /api/sessions/{id}': ['network'],
  'PATCH /api/projects/{id}': ['name'],
  'PATCH /api/mcp/{name}': ['config.transport', 'transport'],
};
