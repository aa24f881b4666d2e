/** Links to files: an address that a person or a program elsewhere can open, for a session that has not ended. */
import { expect, test } from 'vitest';
import { newSession } from '../../tests/conformance/session-fixture.ts';
import type { ApiEvent } from './api-route.ts';
import { type Links, linkRoutes } from './file-link-routes.ts';

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
