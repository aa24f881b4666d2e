/** Code over REST, black-box: results as MIME bundles, contexts, failures, both kinds of session, and who may. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { restSandbox } from './agent.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from './embedded-cloud.ts';

let cloud: EmbeddedCloud;
let id = '';
beforeAll(async () => {
  cloud = await openEmbeddedCloud({ variables: { MSB_DEFAULT_FLAVOR: 'micro' } });
  id = await newSession({ kind: 'execution' });
});
afterAll(() => cloud.stop());

type Fields = Record<string, unknown>;
const post = (path: string, body: Fields): Promise<Fields> =>
  cloud.ask<Fields>(path, { method: 'POST', body: JSON.stringify(body) });
const newSession = async (body: Fields): Promise<string> => String((await post('/api/sessions', body))['id']);
const run = (code: string, more: Fields = {}, session = id) =>
  post(`/api/sessions/${session}/code`, { code, ...more });
const refused = async (method: string, path: string, body?: Fields): Promise<[number, string]> => {
  const response = await cloud.request(path, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return [response.status, error.code];
};

test('the value of the last expression is a result, and displays come before it', async () => {
  expect(await run('print("a"); display({"b": [1]}); 6 * 7')).toEqual({
    exitCode: 0,
    stdout: 'a\n',
    stderr: '',
    durationMs: expect.any(Number),
    results: [{ 'text/plain': "{'b': [1]}", 'application/json': { b: [1] } }, { 'text/plain': '42' }],
  });
  expect(await run('x = 1')).toMatchObject({ exitCode: 0, results: [] });
});

test('contexts have variables of their own, in each language, until they are ended', async () => {
  await run('x = "one"', { context: 'one' });
  await run('const x: string = "two"', { context: 'one', language: 'node' });
  expect(await run('x', { context: 'one' })).toMatchObject({ results: [{ 'text/plain': "'one'" }] });
  expect(await run('x', { context: 'one', language: 'node' })).toMatchObject({
    results: [{ 'text/plain': "'two'" }],
  });
  expect(await run('x', { context: 'other' })).toMatchObject({
    exitCode: 1,
    error: { type: 'runtime_error', recoveryActions: ['debug_and_retry'] },
  });
  const end = (query = '') => cloud.request(`/api/sessions/${id}/contexts/one${query}`, { method: 'DELETE' });
  expect((await end('?language=python')).status).toBe(204);
  const again = await run('x', { context: 'one' });
  expect(again).toMatchObject({ exitCode: 1 });
  expect(again).not.toHaveProperty('stateLost');
  expect(await run('x', { context: 'one', language: 'node' })).toMatchObject({ exitCode: 0 });
  expect((await end()).status).toBe(204);
  expect(await refused('DELETE', `/api/sessions/${id}/contexts/one`)).toEqual([404, 'not_found']);
  expect(await refused('DELETE', `/api/sessions/${id}/contexts/a%20b`)).toEqual([400, 'invalid_request']);
});

test('failed code is a result of its kind, and one that takes too long is ended', async () => {
  expect(await run('x = (')).toMatchObject({ exitCode: 1, error: { type: 'compilation_error' } });
  expect(await run('while True: pass', { timeoutSeconds: 1 })).toMatchObject({
    exitCode: 124,
    error: { type: 'execution_timeout' },
  });
  expect(await run('"x" * 3_000_000')).toMatchObject({ exitCode: 0 });
  expect(await run('print("x" * 3_000_000)')).toMatchObject({ stdoutTruncated: true });
});

test('an agent session runs code beside its turns, in the language of its template', async () => {
  const agent = await newSession({ provider: 'demo', template: 'node' });
  expect(await run('({ a: 1 })', {}, agent)).toMatchObject({
    results: [{ 'application/json': { a: 1 } }],
  });
  expect(await cloud.ask<Fields>(`/api/sessions/${agent}`)).toMatchObject({ status: 'created' });
});

test('a session whose sandbox rests is started again, without its variables and with its files', async () => {
  const resting = await newSession({ provider: 'demo' });
  await run('open("kept", "w").write("here"); x = 1', {}, resting);
  await restSandbox(cloud, resting);
  expect(await run('open("kept").read()', {}, resting)).toMatchObject({
    results: [{ 'text/plain': "'here'" }],
    stateLost: true,
  });
});

test('the templates are listed, and the one that sessions get by default', async () => {
  expect(await cloud.ask<Fields>('/api/templates')).toMatchObject({
    templates: [
      { name: 'python', language: 'python', packages: expect.arrayContaining(['numpy']), isDefault: true },
      { name: 'node', language: 'node', packages: [], isDefault: false },
    ],
  });
});

test('wrong code is refused and named, and an ended session runs none', async () => {
  const path = `/api/sessions/${id}/code`;
  expect(await refused('POST', path, { code: '' })).toEqual([400, 'invalid_request']);
  expect(await refused('POST', path, { code: '1', language: 'ruby' })).toEqual([400, 'unsupported_language']);
  expect(await refused('POST', path, { code: '1', context: 'a b' })).toEqual([400, 'invalid_request']);
  expect(await refused('POST', path, { code: '1', timeoutSeconds: 0 })).toEqual([400, 'invalid_request']);
  const ended = await newSession({ kind: 'execution' });
  await cloud.request(`/api/sessions/${ended}`, { method: 'DELETE' });
  expect(await refused('POST', `/api/sessions/${ended}/code`, { code: '1' })).toEqual([
    409,
    'invalid_session_state',
  ]);
});

test('a token that may only read runs nothing', async () => {
  const { token } = await cloud.ask<{ token: string }>('/api/tokens', {
    method: 'POST',
    body: JSON.stringify({ name: 'reader', scope: 'admin:ro' }),
  });
  const response = await cloud.request(`/api/sessions/${id}/code`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ code: '1' }),
  });
  expect(response.status).toBe(403);
});
