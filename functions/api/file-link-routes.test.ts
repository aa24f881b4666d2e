/** Links to files: an address that a person or a program elsewhere can open, for a session that has not ended. */
import { expect, test } from 'vitest';
import { newSandbox, newSession, workspaceOf } from '../../tests/conformance/session-fixture.ts';
import type { ApiEvent } from './api-route.ts';
import { answerLink, type Links, linkRoutes } from './file-link-routes.ts';

const linkOf = async (
  publicUrl: string | undefined,
  headers: Record<string, string>,
  session = newSession(),
): Promise<string> => {
  const ports = {
    turns: { getWithTurn: async () => ({ session, turn: {} }) },
    fileLinks: { put: async () => undefined },
    world: { now: () => 0, uuid: () => crypto.randomUUID(), sha256: (text: string) => text },
  };
  const [route] = linkRoutes({ ports, publicUrl } as unknown as Links);
  const event = {
    httpMethod: 'POST',
    pathParameters: { id: session.id },
    headers,
    body: JSON.stringify({ path: 'out/a b.txt', method: 'GET', expiresInSeconds: 60 }),
    principal: { scope: 'admin' },
  } as unknown as ApiEvent;
  const answer = await route?.handler(event);
  return JSON.parse(String(answer?.body)).url;
};

const rest = /^\/api\/links\/a%20b\.txt\?key=[0-9a-f]{64}$/;

test.each<[string | undefined, Record<string, string>, string]>([
  [undefined, { Host: '127.0.0.1:4350' }, 'http://127.0.0.1:4350'],
  [
    undefined,
    { Host: 'a', 'X-Forwarded-Host': 'b.example', 'X-Forwarded-Proto': 'https' },
    'https://b.example',
  ],
  ['https://box.example/app/', { Host: '127.0.0.1:4350' }, 'https://box.example'],
])('under the public address %s, asked by %j, it begins with %s', async (publicUrl, headers, origin) => {
  const url = await linkOf(publicUrl, headers);
  expect(url.startsWith(origin)).toBe(true);
  expect(url.slice(origin.length)).toMatch(rest);
});

test.each([
  newSession({ kind: 'execution', status: 'stopped' }),
  newSession({ kind: 'execution', status: 'error' }),
  newSession({ status: 'completed' }),
])('a session of kind $kind that is $status gets no link, since it would open nothing', async (ended) => {
  await expect(linkOf(undefined, {}, ended)).rejects.toMatchObject({ code: 'invalid_session_state' });
});

/** The answer of a link to a file of five bytes. */
const answerTo = (httpMethod: string) => {
  const session = newSession();
  const principal = { owner: session.owner, scope: 'admin', tokenHash: 'first' };
  const link = { principal, sessionId: session.id, path: 'out/a b.txt', method: 'GET', expiresAt: 1 };
  const sandbox = newSandbox({ state: 'ready', address: 'http://10.42.0.9:8080' });
  const entry = {
    path: 'out/a b.txt',
    name: 'a b.txt',
    type: 'file',
    size: 5,
    modifiedAt: '2026-11-28T00:00:00.000Z',
  };
  const ports = {
    adminTokenHash: 'first',
    world: { now: () => 0, sha256: (text: string) => text },
    fileLinks: { get: async () => link },
    rateLimiter: { take: async () => true },
    turns: { getWithTurn: async () => ({ session, turn: {} }) },
    workspaces: { get: async () => ({ ...workspaceOf(session), sandbox }) },
    link: {
      fetch: async (_: unknown, { path }: { readonly path: string }) =>
        path.startsWith('/stat') ? Response.json(entry) : new Response('hello'),
    },
  };
  const event = { httpMethod, queryStringParameters: { key: 'secret' } } as unknown as ApiEvent;
  return answerLink({ ports, settings: {} } as unknown as Links, event);
};

test('HEAD of a link has the headers of its GET, which make the file an attachment', async () => {
  const [got, described] = await Promise.all([answerTo('GET'), answerTo('HEAD')]);
  expect(got.headers).toMatchObject({
    'content-disposition': "attachment; filename*=UTF-8''a%20b.txt",
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  });
  expect(described.headers).toMatchObject({ ...got.headers, 'content-length': '5' });
  expect([described.statusCode, described.body]).toEqual([200, '']);
});
