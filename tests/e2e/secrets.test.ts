/** Secrets of a project: set, listed by name, removed; a value goes in and is seen nowhere else. */
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest';
import { type EmbeddedCloud, openEmbeddedCloud } from './embedded-cloud.ts';
import { startServer } from './server.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());

type ErrorAnswer = { readonly error?: { readonly code: string; readonly message: string } };
type Told = readonly [number, unknown];

const as = async (token: string, path: string, init: RequestInit = {}): Promise<Told> => {
  const response = await fetch(`${cloud.url}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${token}` },
  });
  const body = (await response.json()) as ErrorAnswer;
  return [response.status, body.error === undefined ? body : `${body.error.code}: ${body.error.message}`];
};
const admin = (path: string, init?: RequestInit): Promise<Told> => as(cloud.token, path, init);

const put = (value: unknown): RequestInit => ({ method: 'PUT', body: JSON.stringify({ value }) });
const remove: RequestInit = { method: 'DELETE' };
const makeProject = async (): Promise<string> => {
  const init = { method: 'POST', body: JSON.stringify({ name: 'of secrets' }) };
  return (await cloud.ask<{ id: string }>('/api/projects', init)).id;
};
const makeToken = async (scope: string): Promise<string> => {
  const init = { method: 'POST', body: JSON.stringify({ name: 'a test', scope }) };
  return (await cloud.ask<{ token: string }>('/api/tokens', init)).token;
};

test('a secret is set, replaced, listed by name and deleted', async () => {
  const path = `/api/projects/${await makeProject()}/secrets`;
  expect(await admin(path)).toEqual([200, { secrets: [] }]);
  expect(await admin(`${path}/B_2`, put('first'))).toEqual([201, { name: 'B_2' }]);
  expect(await admin(`${path}/B_2`, put('second'))).toEqual([200, { name: 'B_2' }]);
  expect(await admin(`${path}/_a`, put('x'.repeat(8192)))).toEqual([201, { name: '_a' }]);
  expect(await admin(path)).toEqual([200, { secrets: [{ name: 'B_2' }, { name: '_a' }] }]);
  expect(await admin(`${path}/_a`, remove)).toEqual([200, { message: 'Secret _a removed' }]);
  expect(await admin(`${path}/_a`, remove)).toEqual([404, 'not_found: there is no such secret']);
  expect(await admin(path)).toEqual([200, { secrets: [{ name: 'B_2' }] }]);
});

test('the default project has secrets, too', async () => {
  const path = '/api/projects/00000000-0000-4000-8000-000000000000/secrets';
  onTestFailed(async () => {
    await admin(`${path}/A`, remove);
  });
  expect(await admin(`${path}/A`, put('a'))).toEqual([201, { name: 'A' }]);
  expect(await admin(`${path}/A`, remove)).toEqual([200, { message: 'Secret A removed' }]);
});

test('a read-only token lists the names, and another project is not found', async () => {
  const [mine, other] = [await makeProject(), await makeProject()];
  const path = `/api/projects/${mine}/secrets`;
  await admin(`${path}/A`, put('a'));
  const unknown = `/api/projects/${crypto.randomUUID()}/secrets`;
  const tokens = {
    'admin:ro': await makeToken('admin:ro'),
    own: await makeToken(`project:${mine}`),
    'own:ro': await makeToken(`project:${mine}:ro`),
    other: await makeToken(`project:${other}`),
  };
  const statuses = async (at: string, init?: RequestInit) =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(tokens).map(async ([name, token]) => [name, (await as(token, at, init))[0]]),
      ),
    );
  expect(await statuses(path)).toEqual({ 'admin:ro': 200, own: 200, 'own:ro': 200, other: 404 });
  const written = { 'admin:ro': 403, own: 200, 'own:ro': 403, other: 404 };
  expect(await statuses(`${path}/A`, put('b'))).toEqual(written);
  expect(await statuses(`${path}/A`, remove)).toEqual(written);
  for (const [suffix, init] of [
    ['', {}],
    ['/A', put('c')],
    ['/A', remove],
  ] as const) {
    const missing = await as(tokens.other, `${unknown}${suffix}`, init);
    expect(missing).toEqual([404, expect.stringContaining('project_not_found: ')]);
    expect(await as(tokens.other, `${path}${suffix}`, init)).toEqual(missing);
  }
});

test.each([
  ['a value of more than 8192 bytes', 'A', put('ü'.repeat(4097)), 400],
  ['an empty value', 'A', put(''), 400],
  ['a value with a NUL', 'A', put('a\0b'), 400],
  ['half of a surrogate pair', 'A', { method: 'PUT', body: '{"value":"\\ud83d"}' }, 400],
  ['a number', 'A', put(1), 400],
  ['no JSON', 'A', { method: 'PUT', body: '{"value": hunter' }, 400],
  ['nothing', 'A', { method: 'PUT' }, 400],
  ['a name with a minus', 'A-B', put('a'), 400],
  ['a name of 129 characters', 'n'.repeat(129), put('a'), 400],
  ['a name that every object has', '__proto__', put('a'), 400],
  ['a name that is a path', '..%2F..%2Fa', put('a'), 400],
  ['to remove such a name', '__proto__', remove, 404],
])('%s is refused', async (...[, name, init, status]) => {
  const path = `/api/projects/${await makeProject()}/secrets`;
  const [got, told] = await admin(`${path}/${name}`, init);
  expect([got, told]).toEqual([status, expect.stringMatching(/^(invalid_request|not_found): /)]);
  expect(told).not.toContain('hunter');
  expect(await admin(path)).toEqual([200, { secrets: [] }]);
});

test('twenty set concurrently all exist', async () => {
  const path = `/api/projects/${await makeProject()}/secrets`;
  const names = Array.from({ length: 20 }, (_, index) => `S${index}`);
  const answers = await Promise.all(names.map((name) => admin(`${path}/${name}`, put(name))));
  expect(answers.map(([status]) => status)).toEqual(names.map(() => 201));
  const secrets = names.toSorted().map((name) => ({ name }));
  expect(await admin(path)).toEqual([200, { secrets }]);
});

test('the audit log has who set and deleted which name', async () => {
  const project = await makeProject();
  await admin(`/api/projects/${project}/secrets/AUDITED`, put('hunter0'));
  await admin(`/api/projects/${project}/secrets/AUDITED`, remove);
  type Row = { readonly subject: string; readonly action: string; readonly scope: string };
  const { rows } = await cloud.ask<{ rows: readonly Row[] }>(`/api/audit?project=${project}`);
  const own = rows.filter(({ subject }) => subject === `${project}/AUDITED`);
  expect(own.map(({ action, scope }) => [action, scope])).toEqual([
    ['secret.remove', 'admin'],
    ['secret.put', 'admin'],
  ]);
  expect(JSON.stringify(rows)).not.toContain('hunter0');
});

test('a secret that a server takes into sandboxes is warned of, and named in the audit log (R7)', async () => {
  const project = await makeProject();
  await admin(`/api/projects/${project}/secrets/TAKEN`, put('hunter1'));
  const config = { transport: 'stdio', command: 'true', env: { TOKEN: `\${TAKEN}` } };
  const init = { method: 'POST', body: JSON.stringify({ name: 'inside', config }) };
  const warning = expect.stringContaining('can read TAKEN');
  expect(await admin(`/api/mcp/add?project=${project}`, init)).toEqual([
    201,
    { message: 'MCP server added successfully', name: 'inside', warning },
  ]);
  const withNone = { method: 'PATCH', body: JSON.stringify({ config: { env: null } }) };
  expect(await admin(`/api/mcp/inside?project=${project}`, withNone)).toEqual([
    200,
    { message: 'MCP server updated successfully', name: 'inside' },
  ]);
  type Row = { readonly action: string; readonly detail: object };
  const { rows } = await cloud.ask<{ rows: readonly Row[] }>(`/api/audit?project=${project}`);
  const own = rows.filter(({ action }) => action.startsWith('mcp.'));
  expect(own.map(({ action, detail }) => [action, detail])).toEqual([
    ['mcp.change', {}],
    ['mcp.add', { secretsInSandbox: ['TAKEN'] }],
  ]);
});

/** Every file of a folder, with its bytes as Latin-1. */
const filesOf = async (folder: string): Promise<readonly (readonly [string, string])[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Promise.all(
    files.map(async ({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [relative(folder, path), await readFile(path, 'latin1')] as const;
    }),
  );
};

test('a value is only in the file of the secrets, survives a restart, and is deleted', async () => {
  const first = await startServer();
  const { home, token } = first;
  const authorised = { authorization: `Bearer ${token}` };
  const made = await first.request('/api/projects', { method: 'POST', body: '{"name":"p"}' });
  const { id } = (await made.json()) as { id: string };
  const path = `/api/projects/${id}/secrets`;
  const mark = 'hunter2-1f9a7c';
  expect((await first.request(`${path}/KEY`, put(`${mark}-kept`))).status).toBe(201);
  expect((await first.request(`${path}/KEY`, put(`${mark}${'x'.repeat(9000)}`))).status).toBe(400);
  expect((await first.request(`${path}/A-B`, put(`${mark}-refused`))).status).toBe(400);
  expect((await first.request(`${path}/KEY`, { method: 'PUT', body: `{"value": ${mark}` })).status).toBe(400);
  expect(await first.stop()).toBe(0);

  const holding = async () =>
    (await filesOf(home)).filter(([, text]) => text.includes(mark)).map(([name]) => name);
  const files = await holding();
  expect(files).toEqual([expect.stringMatching(/^secrets\/[0-9a-f]{64}\.json$/)]);
  for (const name of files) expect((await stat(join(home, name))).mode & 0o777).toBe(0o600);

  const second = await startServer({ home });
  const again = (suffix: string, init: RequestInit = {}) =>
    fetch(`${second.url}${path}${suffix}`, { ...init, headers: authorised });
  expect(await (await again('')).json()).toEqual({ secrets: [{ name: 'KEY' }] });
  // To add one, the others are read.
  expect((await again('/OTHER', put('other'))).status).toBe(201);
  expect(await holding()).toHaveLength(1);
  expect((await again('/KEY', remove)).status).toBe(200);
  expect(await holding()).toEqual([]);
  expect((await again('/OTHER', remove)).status).toBe(200);
  expect(await readdir(join(home, 'secrets'))).toEqual([]);
  expect(await second.stop()).toBe(0);
  expect(first.output() + second.output()).not.toContain(mark);
  await rm(home, { recursive: true, force: true });
});
