/** Access: tokens and their scopes, revocation at once, rates. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { scopeKinds } from '#shared/domain/access.ts';
import {
  askOperation,
  documentedOperations,
  type Operation,
  type Resource,
  resources,
  verdictOfTable,
} from './access-matrix.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { connect } from './socket-client.ts';

type Made = { readonly id: string; readonly token: string; readonly scope: string; readonly name: string };

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());

const makeToken = (options: object): Promise<Made> =>
  cloud.ask('/api/tokens', { method: 'POST', body: JSON.stringify({ name: 'a test', ...options }) });
const makeProject = (name: string): Promise<{ id: string }> =>
  cloud.ask('/api/projects', { method: 'POST', body: JSON.stringify({ name }) });

const as = async (token: string, path: string, init: RequestInit = {}): Promise<[number, string]> => {
  const headers = { authorization: `Bearer ${token}`, ...init.headers };
  const response = await fetch(`${cloud.url}${path}`, { ...init, headers });
  const body = (await response.json()) as { error?: { code: string; message: string } };
  return [response.status, body.error === undefined ? '' : `${body.error.code}: ${body.error.message}`];
};

const post = (body: object): RequestInit => ({ method: 'POST', body: JSON.stringify(body) });

test('a token is shown once, listed masked, and not listed once revoked', async () => {
  const made = await makeToken({ scope: 'admin:ro', name: 'reader' });
  expect(made).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    token: expect.stringMatching(/^sp_[0-9a-f]{64}$/),
    scope: 'admin:ro',
    name: 'reader',
  });
  const { tokens } = await cloud.ask<{ tokens: Record<string, string>[] }>('/api/tokens');
  const listed = tokens.find(({ id }) => id === made.id);
  expect(listed?.['token']).toBe(`${made.token.slice(0, 8)}...${made.token.slice(-4)}`);
  expect(JSON.stringify(tokens)).not.toContain(made.token);
  expect(await as(made.token, '/api/sessions')).toEqual([200, '']);
  await cloud.ask(`/api/tokens/${made.id}`, { method: 'DELETE' });
  expect(await as(made.token, '/api/sessions')).toEqual([401, 'unauthenticated: a valid token is required']);
  expect(await as(cloud.token, `/api/tokens/${made.id}`, { method: 'DELETE' })).toEqual([
    404,
    'token_not_found: there is no such token',
  ]);
});

test('an expired token is refused', async () => {
  const { token } = await makeToken({ scope: 'admin', expiresInSeconds: 1 });
  expect((await as(token, '/api/sessions'))[0]).toBe(200);
  await new Promise((resolve) => setTimeout(resolve, 1100));
  expect((await as(token, '/api/sessions'))[0]).toBe(401);
});

test('an unknown scope is refused by name', async () => {
  expect(await as(cloud.token, '/api/tokens', post({ name: 'x', scope: 'project:me' }))).toEqual([
    400,
    'invalid_request: scope: use admin, admin:ro, project:<uuid> or project:<uuid>:ro',
  ]);
});

test('scopes read, write and manage as the matrix says, and another project is not found', async () => {
  const [mine, other] = [await makeProject('mine'), await makeProject('other')];
  const tokens = {
    admin: cloud.token,
    'admin:ro': (await makeToken({ scope: 'admin:ro' })).token,
    own: (await makeToken({ scope: `project:${mine.id}` })).token,
    'own:ro': (await makeToken({ scope: `project:${mine.id}:ro` })).token,
    other: (await makeToken({ scope: `project:${other.id}` })).token,
  };
  const session = await cloud.ask<{ id: string }>('/api/sessions', post({ project: mine.id }));
  const statuses = async (path: string, init?: RequestInit) =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(tokens).map(async ([name, token]) => [name, (await as(token, path, init))[0]]),
      ),
    );
  expect(await statuses(`/api/sessions/${session.id}`)).toEqual({
    admin: 200,
    'admin:ro': 200,
    own: 200,
    'own:ro': 200,
    other: 404,
  });
  expect(await statuses('/api/sessions', post({ project: mine.id }))).toEqual({
    admin: 201,
    'admin:ro': 403,
    own: 201,
    'own:ro': 403,
    other: 404,
  });
  expect(await statuses('/api/tokens', post({ name: 'x', scope: 'admin:ro' }))).toEqual({
    admin: 201,
    'admin:ro': 403,
    own: 403,
    'own:ro': 403,
    other: 403,
  });
  const text = await as(tokens.other, `/api/sessions/${session.id}`);
  expect(text).toEqual(await as(tokens.other, `/api/sessions/${crypto.randomUUID()}`));
});

test('every route answers every scope as the table says, with its own, another and no resource', async () => {
  const projects = { own: (await makeProject('mine')).id, other: (await makeProject('other')).id };
  const makeSession = async (resource: 'own' | 'other'): Promise<string> =>
    (await cloud.ask<{ id: string }>('/api/sessions', post({ project: projects[resource] }))).id;
  const sessions = { own: await makeSession('own'), other: await makeSession('other') };
  const makeSchedule = async (resource: 'own' | 'other'): Promise<string> => {
    const targets = [{ projectId: projects[resource] }];
    const options = { name: 's', cronExpr: '0 0 1 1 *', prompt: 'hello', targets };
    return (await cloud.ask<{ id: string }>('/api/schedules', post(options))).id;
  };
  const schedules = { own: await makeSchedule('own'), other: await makeSchedule('other') };
  const makeWebhook = async (resource: 'own' | 'other'): Promise<string> => {
    const options = { url: 'https://192.0.32.7/', events: ['turn_failed'], project: projects[resource] };
    return (await cloud.ask<{ id: string }>('/api/webhooks', post(options))).id;
  };
  const webhooks = { own: await makeWebhook('own'), other: await makeWebhook('other') };
  const held = { project: projects, session: sessions, schedule: schedules, webhook: webhooks };
  const making = { session: makeSession, schedule: makeSchedule, webhook: makeWebhook };
  const idOf = async ({ method, path, 'x-resource': kind }: Operation, resource: Resource) => {
    if (kind === undefined || resource === 'none') return crypto.randomUUID();
    const isRemoved = method === 'DELETE' && path.endsWith('{id}') && kind !== 'project';
    return isRemoved ? making[kind](resource) : held[kind][resource];
  };
  const operations = await documentedOperations(cloud);
  expect(operations.length).toBeGreaterThan(30);
  const found: Record<string, string> = {};
  const wanted: Record<string, string> = {};
  const texts: Record<string, string> = {};
  for (const scope of scopeKinds) {
    const { token } = await makeToken({ scope: scope.replace('project', `project:${projects.own}`) });
    for (const operation of operations)
      for (const resource of resources) {
        const name = `${scope}: ${operation.method} ${operation.path} of ${resource}`;
        const answer = await askOperation(cloud.url, operation, {
          token,
          id: await idOf(operation, resource),
        });
        found[name] = answer.verdict;
        wanted[name] = verdictOfTable(operation, scope, resource);
        texts[name] = answer.text;
      }
  }
  expect(found).toEqual(wanted);
  const foreign = Object.keys(texts).filter(
    (name) => name.endsWith('other') && found[name]?.startsWith('404'),
  );
  expect(foreign.length).toBeGreaterThan(30);
  expect(foreign.filter((name) => texts[name] !== texts[name.replace(/other$/, 'none')])).toEqual([]);
});

test('the revocation of a token closes its socket, which need not send a frame', async () => {
  const { id, token } = await makeToken({ scope: 'admin' });
  const client = await connect({ url: cloud.url, token });
  await client.untilType('system:ready');
  client.send('ping');
  await client.untilType('pong');
  await cloud.ask(`/api/tokens/${id}`, { method: 'DELETE' });
  expect((await client.untilType('error')).data.error.code).toBe('unauthenticated');
  expect(await client.closed).toBeGreaterThan(0);
});

test('more than a burst of requests with one token is rate-limited, in every API', async () => {
  const strict = await openEmbeddedCloud({
    variables: { RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '3' },
  });
  const answers = await burst(() => strict.request('/api/sessions'));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused[0]?.headers.get('retry-after')).toBe('1');
  expect(await refused[0]?.json()).toMatchObject({ error: { code: 'rate_limited' } });
  const begun = Date.now();
  const warm = await Promise.all(Array.from({ length: 8 }, () => strict.request('/api/sessions')));
  const allowed = warm.filter(({ status }) => status === 200).length;
  expect(allowed).toBeLessThanOrEqual(3 + Math.ceil((Date.now() - begun) / 1000));
  expect(warm.filter(({ status }) => status === 429)).toHaveLength(8 - allowed);
  await burst(() => strict.request('/mcp', { method: 'POST', body: '{}' }));
  const opened = await burst(() => openStatus(strict));
  expect(opened).toContainEqual({ status: 429, retryAfter: '1' });
  await strict.stop();
});

/** Eight at once, until one is refused: a door that opens slowly lets the bucket fill meanwhile. */
const burst = <T extends { readonly status: number }>(ask: () => Promise<T>): Promise<readonly T[]> =>
  eventually(
    () => Promise.all(Array.from({ length: 8 }, ask)),
    (answers) => answers.some(({ status }) => status === 429),
  );

/** The refusal of a socket, or that it is open. */
const openStatus = async ({ url, token }: EmbeddedCloud) => {
  const headers = { authorization: `Bearer ${token}` };
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers });
  const answer = await new Promise<{ readonly status: number; readonly retryAfter?: unknown }>((resolve) => {
    socket.once('unexpected-response', (_, response) =>
      resolve({ status: Number(response.statusCode), retryAfter: response.headers['retry-after'] }),
    );
    socket.once('open', () => resolve({ status: 101 }));
    socket.once('error', () => undefined);
  });
  if (answer.status === 101) socket.close();
  return answer;
};
