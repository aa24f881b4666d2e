/** A ticket at a path of a preview: exchanged for a cookie of that path, and of nothing that the path says besides; and redirects. */
import { expect, test } from 'vitest';
import { makeTokenStore } from '#shared/adapters/aws/dynamo/token-store.ts';
import { issueTicket } from '#shared/application/access/authenticate.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { deploymentOwner, type Principal } from '#shared/domain/principal.ts';
import { newSession, workspaceOf } from '../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../tests/simulation/quiet-ports.ts';
import type { ApiEvent } from './api-route.ts';
import { answerPreview, type Preview, previewTarget } from './preview-routes.ts';

const adminTokenHash = 'the first token';
const principal: Principal = { owner: deploymentOwner, scope: 'admin', tokenHash: adminTokenHash };

const exchange = async (session: string, headers = {}) => {
  const { ports: quiet, table } = openQuietPorts();
  const ports = { ...quiet, adminTokenHash, tokens: makeTokenStore(table) };
  const { ticket } = await issueTicket(ports as unknown as Preview['ports'], principal);
  const event = {
    ...{
      httpMethod: 'GET',
      path: `/api/sessions/${session}/ports/8000/`,
      headers: { host: 'own.example', ...headers },
    },
    ...{ queryStringParameters: { ticket }, multiValueQueryStringParameters: { ticket: [ticket], q: ['1'] } },
  } as unknown as ApiEvent;
  const target = previewTarget(event);
  if (target === undefined) throw new Error('it is no path of a preview');
  return answerPreview({ ports, settings: {} } as unknown as Preview, event, target);
};

test('a ticket is exchanged for a cookie of its path', async () => {
  const session = crypto.randomUUID();
  const path = `/api/sessions/${session}/ports/8000/`;
  const { statusCode, headers } = await exchange(session.toUpperCase());
  expect([statusCode, headers['location']]).toEqual([302, `${path}?q=1`]);
  expect(headers['set-cookie']).toMatch(
    new RegExp(`^sallyport-preview=\\w{64}; Path=${path}; Max-Age=\\d+; HttpOnly; SameSite=Lax$`),
  );
});

test('a ticket leaves a query that is otherwise as it was sent', async () => {
  const session = crypto.randomUUID();
  for (const [sent, kept] of [
    ['?ticket=a', ''],
    ['?b&ticket=a&a=+%20&b=&%74icket=b', '?b&a=+%20&b='],
  ]) {
    const { headers } = await exchange(session, { 'X-Forwarded-Query': sent });
    expect(headers['location']).toBe(`/api/sessions/${session}/ports/8000/${kept}`);
  }
});

test('a browser is led to an address that opens this port by itself, and asks there before it sends', async () => {
  const session = crypto.randomUUID();
  const { ports: quiet, table } = openQuietPorts();
  const rateLimiter = { take: async () => true };
  const ports = { ...quiet, adminTokenHash, tokens: makeTokenStore(table), rateLimiter };
  const grant = 'a'.repeat(64);
  await quiet.connections.putPreview(quiet.world.sha256(grant), {
    ...{ principal, port: 8000, expiresAt: quiet.world.now() + 1000 },
    sessionId: session as SessionId,
  });
  const ask = (path: string, request: { readonly httpMethod?: string; readonly headers?: object } = {}) => {
    const event = {
      ...{
        httpMethod: 'GET',
        queryStringParameters: { q: '1' },
        multiValueQueryStringParameters: { q: ['1'] },
      },
      ...{ path: `/api/sessions/${session}/ports/${path}`, ...request },
      headers: { host: 'own.example', ...request.headers },
    } as unknown as ApiEvent;
    const target = previewTarget(event);
    if (target === undefined) throw new Error('it is no path of a preview');
    return answerPreview({ ports, settings: {} } as unknown as Preview, event, target);
  };
  const cookie = `sallyport-preview=${grant}`;
  const shown = `8000/~${grant}/`;
  for (const headers of [{ 'sec-fetch-mode': 'navigate' }, { accept: 'text/html,*/*' }]) {
    const led = await ask('8000/a', { headers: { cookie, ...headers } });
    expect([led.statusCode, led.headers['location']]).toEqual([
      302,
      `/api/sessions/${session}/ports/${shown}a?q=1`,
    ]);
  }
  const asks = {
    ...{ origin: 'null', 'access-control-request-method': 'PUT' },
    'access-control-request-headers': 'content-type',
  };
  const { statusCode, headers } = await ask(shown, { httpMethod: 'OPTIONS', headers: asks });
  expect(statusCode).toBe(204);
  expect(headers).toMatchObject({
    ...{ 'access-control-allow-origin': 'null', 'access-control-allow-methods': 'PUT' },
    'access-control-allow-headers': 'content-type',
  });
  for (const path of [`8001/~${grant}/`, `8000/~${'b'.repeat(64)}/`, `8000/~${grant}`, '8000/'])
    await expect(ask(path, { httpMethod: 'OPTIONS', headers: asks })).rejects.toMatchObject({
      code: 'unauthenticated',
    });
});

test.each(['x', 'x;Domain=example.org;'])(
  'no cookie is made of the path of a session %s',
  async (session) => {
    await expect(exchange(session)).rejects.toMatchObject({ code: 'session_not_found' });
  },
);

test.each([
  ['GET', 302],
  ['HEAD', 302],
  ['POST', 308],
  ['DELETE', 308],
])('%s of a preview without its final slash keeps its query and its method', async (httpMethod, status) => {
  expect(await redirected(httpMethod, {})).toEqual([status, '/?q=1&q=a%20b']);
  expect(await redirected(httpMethod, { 'x-forwarded-query': '?q=1&q=a+b&z' })).toEqual([
    status,
    '/?q=1&q=a+b&z',
  ]);
});

test.each([80, 8080, 99_999])(
  'port %i, which nothing leases, is refused before a sandbox is started',
  async (port) => {
    const { ports: quiet, table } = openQuietPorts();
    const session = newSession();
    await quiet.sessions.create(session, { workspace: workspaceOf(session) });
    const token = `sp_${'1'.repeat(64)}`;
    const ports = {
      ...{ ...quiet, adminTokenHash: token, tokens: makeTokenStore(table) },
      rateLimiter: { take: async () => true },
    };
    const event = {
      httpMethod: 'GET',
      path: `/api/sessions/${session.id}/ports/${port}/`,
      headers: { host: 'own.example', authorization: `Bearer ${token}` },
    } as unknown as ApiEvent;
    const target = previewTarget(event);
    if (target === undefined) throw new Error('it is no path of a preview');
    const settings = { lifetimes: {} };
    const answer = answerPreview({ ports, settings } as unknown as Preview, event, target);
    await expect(answer).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('port: use a number from 1024 to 65535'),
    });
    expect((await quiet.workspaces.get(session.workspace))?.sandbox).toBe(undefined);
  },
);

const redirected = async (httpMethod: string, more: object) => {
  const { ports: quiet, table } = openQuietPorts();
  const token = `sp_${'1'.repeat(64)}`;
  const ports = {
    ...{ ...quiet, adminTokenHash: token, tokens: makeTokenStore(table) },
    rateLimiter: { take: async () => true },
  };
  const path = `/api/sessions/${crypto.randomUUID()}/ports/8000`;
  const event = {
    ...{ httpMethod, path, headers: { host: 'own.example', authorization: `Bearer ${token}`, ...more } },
    ...{ queryStringParameters: { q: 'a b' }, multiValueQueryStringParameters: { q: ['1', 'a b'] } },
  } as unknown as ApiEvent;
  const target = previewTarget(event);
  if (target === undefined) throw new Error('it is no path of a preview');
  const { statusCode, headers } = await answerPreview(
    { ports, settings: {} } as unknown as Preview,
    event,
    target,
  );
  return [statusCode, String(headers['location']).slice(path.length)];
};
