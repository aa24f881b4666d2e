import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { declaredRoutes, openApiDocument, openRoutes } from './document.ts';

type Node = { readonly [key: string]: unknown };
type Operation = Node & { readonly operationId: string; readonly responses: Readonly<Record<string, Node>> };
type Document = {
  readonly openapi: string;
  readonly info: Node;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Node>>>>;
};

const read = (path: string) => JSON.parse(readFileSync(join(import.meta.dirname, path), 'utf8'));
const written = read('../openapi.json') as Document;
const { version } = read('../../../package.json') as { version: string };

const operations = Object.entries(written.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);

/** Every object in the document, with the keys that lead to it. */
const nodes = (
  value: unknown,
  at: readonly string[] = [],
): readonly { at: readonly string[]; node: Node }[] =>
  typeof value !== 'object' || value === null
    ? []
    : [
        { at, node: value as Node },
        ...Object.entries(value).flatMap(([key, child]) => nodes(child, [...at, key])),
      ];

test('the written document matches the routes; `npm run openapi` regenerates it', () => {
  const made = JSON.parse(JSON.stringify(openApiDocument(version)));
  expect(made, 'functions/api/openapi.json is stale: npm run openapi').toEqual(written);
});

test('every route is in it, and no other but preview', () => {
  const routes = [...declaredRoutes(), ...openRoutes].map(
    ({ method, path }) => `${method} ${path.replace(/\{proxy\+\}/, '{path}')}`,
  );
  const preview = '/api/sessions/{id}/ports/{port}/{path}';
  const documented = operations
    .filter(({ path }) => path !== preview)
    .map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  expect(documented.toSorted()).toEqual(routes.toSorted());
  expect(Object.keys(written.paths[preview] ?? {}).toSorted()).toEqual([
    'delete',
    'get',
    'head',
    'options',
    'patch',
    'post',
    'put',
  ]);
});

test('every reference resolves', () => {
  const refs = nodes(written).flatMap(({ node }) => (typeof node['$ref'] === 'string' ? [node['$ref']] : []));
  expect(refs.length).toBeGreaterThan(50);
  const lost = refs.filter((ref) => {
    const [root, ...keys] = ref.split('/');
    const target = keys.reduce<unknown>((value, key) => (value as Node | undefined)?.[key], written);
    return root !== '#' || target === undefined;
  });
  expect(lost).toEqual([]);
});

test('it has the shape of an OpenAPI 3.1 document', () => {
  expect(written).toMatchObject({
    openapi: '3.1.1',
    info: { title: 'Sallyport', version },
    security: [{ bearer: [] }],
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
  });
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(ids.filter((id, index) => !/^[a-z][A-Za-z]+$/.test(id) || ids.indexOf(id) !== index)).toEqual([]);
  for (const { path, operation } of operations) {
    const parameters = (operation['parameters'] ?? []) as readonly Node[];
    const inPath = parameters.filter((parameter) => parameter['in'] === 'path');
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(inPath.map(({ name }) => name)).toEqual(names);
    expect(inPath.every(({ required }) => required === true)).toBe(true);
    expect(parameters.every(({ schema }) => typeof schema === 'object')).toBe(true);
    expect(Object.keys(operation.responses).every((status) => /^[1-5]\d\d$/.test(status))).toBe(true);
    expect(operation['tags']).toEqual([expect.stringMatching(/^[a-z]+$/)]);
    expect(operation['summary']).toEqual(expect.stringMatching(/^[A-Z].*[^.]$/));
  }
});

/** Those of the vocabulary of JSON Schema that contracts use (https://json-schema.org/draft/2020-12/schema). */
const keywords =
  /^(\$ref|additionalProperties|allOf|anyOf|const|default|description|enum|format|items|maxItems|maxLength|maximum|minItems|minLength|minimum|oneOf|discriminator|pattern|properties|propertyNames|required|type)$/;
const types = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

const schemaProblems = (schema: unknown): readonly string[] => {
  if (typeof schema === 'boolean') return [];
  if (typeof schema !== 'object' || schema === null) return ['no schema'];
  const {
    type,
    properties = {},
    required = [],
    items,
    additionalProperties,
    anyOf,
    oneOf,
    allOf,
  } = schema as Node;
  const below = [...Object.values(properties as Node), items, additionalProperties, anyOf, oneOf, allOf];
  return [
    ...Object.keys(schema).filter((key) => !keywords.test(key)),
    ...[type ?? []]
      .flat()
      .filter((name) => !types.includes(String(name)))
      .map(String),
    ...(required as readonly string[]).filter((name) => !Object.hasOwn(properties as Node, name)),
    ...below.flat().flatMap((child) => (child === undefined ? [] : schemaProblems(child))),
  ];
};

test('its schemas are JSON Schema', () => {
  const schemas = nodes(written).flatMap(({ node }) =>
    node['schema'] === undefined ? [] : [node['schema']],
  );
  const all = [...schemas, ...Object.values(written.components['schemas'] ?? {})];
  expect(all.length).toBeGreaterThan(50);
  expect(all.flatMap(schemaProblems)).toEqual([]);
});

test('a body states that it takes no other fields, wherever it lists fields', () => {
  const bodies = operations.flatMap(({ operation }) => operation['requestBody'] ?? []);
  const objects = nodes(bodies).filter(({ at, node }) => node['properties'] && at.at(-1) !== 'properties');
  expect(objects.length).toBeGreaterThan(15);
  expect(objects.filter(({ node }) => node['additionalProperties'] !== false)).toEqual([]);
});

test('errors name their codes and headers', () => {
  const responses = written.components['responses'] ?? {};
  const codesOf = (name: string) =>
    nodes(responses[name]).flatMap(({ at, node }) => (at.at(-1) === 'code' ? [node['enum']] : []));
  expect(codesOf('Forbidden')).toEqual([['forbidden']]);
  expect(codesOf('ServiceUnavailable').flat()).toContain('sandbox_starting');
  const headers = Object.fromEntries(
    Object.entries(responses).map(([name, { headers: some }]) => [name, Object.keys(some as Node)]),
  );
  expect(headers).toMatchObject({
    NotFound: ['x-request-id'],
    Unauthorized: ['x-request-id', 'www-authenticate'],
    TooManyRequests: ['x-request-id', 'retry-after'],
    ServiceUnavailable: ['x-request-id', 'retry-after'],
  });
});

test('an operation states its permission, and 403 exactly if some scope is insufficient', () => {
  const needs = Object.fromEntries(operations.map(({ operation }) => [operation.operationId, operation]));
  expect(needs['postTokens']).toMatchObject({ 'x-needs': 'admin' });
  expect(needs['postTickets']).toMatchObject({ 'x-needs': 'any' });
  expect(needs['deleteSessionsById']).toMatchObject({ 'x-needs': 'own:write', 'x-resource': 'session' });
  const bySignIn = operations.filter(({ path }) => path.startsWith('/api/auth'));
  const refusing = operations.filter((one) => '403' in one.operation.responses && !bySignIn.includes(one));
  expect([...new Set(refusing.map(({ operation }) => operation['x-needs']))].toSorted()).toEqual([
    'admin',
    'admin:read',
    'global:write',
    'own:write',
  ]);
});

test('bytes are not JSON, and a required body is marked as required', () => {
  const { get, put } = written.paths['/api/sessions/{id}/files/{path}'] ?? {};
  expect(get?.responses['200']).toMatchObject({ content: { 'application/octet-stream': {} } });
  expect(put?.['requestBody']).toEqual({ required: false, content: { 'application/octet-stream': {} } });
  expect(written.paths['/api/tokens']?.['post']?.['requestBody']).toMatchObject({ required: true });
});
