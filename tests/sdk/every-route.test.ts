/** The routes that the package names, beside those of the API: `request` takes every one that answers with JSON. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connectedClientApi } from '#sdk/connected-client-routes.ts';
import { api } from '#sdk/routes.ts';

/** Contents and streams: a method of the library reads or writes each, or a browser opens it. */
const withoutJson = [
  'DELETE /api/sessions/{id}/files/{path}',
  'GET /api/audit/export',
  'GET /api/auth/callback',
  'GET /api/links/{name}',
  'GET /api/openapi.json',
  'GET /api/sessions/{id}/files/{path}',
  'GET /api/sessions/{id}/processes/{processId}/output',
  'GET /api/sessions/{id}/watch',
  'HEAD /api/sessions/{id}/files/{path}',
  'POST /api/sessions/{id}/files/{path}',
  'POST /api/sessions/{id}/processes/{processId}/stdin',
  'PUT /api/links/{name}',
  'PUT /api/sessions/{id}/files',
  'PUT /api/sessions/{id}/files/{path}',
];
const namesOf = (routes: Readonly<Record<string, { method: string; path: string }>>): readonly string[] =>
  Object.values(routes).map(({ method, path }) => `${method} ${path}`);

test('each route of the API is one of `api`, or sdk.md names it among the others', async () => {
  const folder = join(import.meta.dirname, '..', '..');
  const text = await readFile(join(folder, 'functions', 'api', 'openapi.json'), 'utf8');
  const { paths } = JSON.parse(text) as { paths: Readonly<Record<string, object>> };
  const documented = Object.entries(paths)
    .flatMap(([path, operations]) => Object.keys(operations).map((name) => `${name.toUpperCase()} ${path}`))
    .filter((name) => /^(GET|HEAD|POST|PUT|PATCH|DELETE) /.test(name) && !name.includes('/ports/{port}/'));
  const others = namesOf(connectedClientApi);
  expect([...namesOf(api), ...others, ...withoutJson].sort()).toEqual(documented.sort());
  const page = await readFile(join(folder, 'docs', 'sdk.md'), 'utf8');
  for (const name of others)
    expect(page).toContain(`\`${name.split(' ')[1]?.split('/').slice(0, 4).join('/')}\``);
});
