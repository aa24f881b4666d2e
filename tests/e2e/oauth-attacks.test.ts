/**
 * Attacks on the authorization server: on its codes, its refresh tokens, its addresses, its consent and its scopes. A refusal
 * leads no browser to another origin, and what was copied ends for both who have it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressRegistrationsMax } from '#shared/domain/oauth/grant.ts';
import {
  connectByOAuth,
  consent,
  decide,
  defaultScope,
  fieldsAt,
  makeVerifier,
  redirectUrl,
} from './oauth-client.ts';
import { challengeOf, type Server, startServer } from './server.ts';

let server: Server;
let clientId: string;

type Answer = { readonly error?: string; readonly access_token?: string; readonly refresh_token?: string };

const register = async (
  redirectUris: readonly unknown[],
  headers: Readonly<Record<string, string>> = {},
): Promise<[number, Answer & { client_id?: string }]> => {
  const response = await fetch(`${server.url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ client_name: 'a client', redirect_uris: redirectUris }),
  });
  return [response.status, (await response.json()) as Answer];
};

beforeAll(async () => {
  server = await startServer();
  clientId = (await register([redirectUrl]))[1].client_id ?? '';
});
afterAll(() => server?.stop());

type Fields = Readonly<Record<string, string>>;

const pageOf = (changes: Fields = {}, challenge = makeVerifier().challenge): string => {
  const fields = {
    ...{ client_id: clientId, redirect_uri: redirectUrl, response_type: 'code', state: 'a state' },
    ...{ code_challenge: challenge, code_challenge_method: 'S256', resource: `${server.url}/mcp` },
    ...changes,
  };
  const given = Object.entries(fields).filter(([, value]) => value !== '');
  return `${server.url}/oauth/authorize?${new URLSearchParams(given)}`;
};

const ask = async (path: string, fields: Fields): Promise<[number, Answer]> => {
  const response = await fetch(`${server.url}/oauth/${path}`, {
    method: 'POST',
    body: new URLSearchParams(fields),
  });
  return [response.status, (await response.json()) as Answer];
};

type Code = { readonly code: string; readonly verifier: string };
const newCode = async (): Promise<Code> => {
  const { verifier, challenge } = makeVerifier();
  const back = await consent(server, pageOf({}, challenge));
  return { code: back.searchParams.get('code') ?? '', verifier };
};
const exchange = ({ code, verifier }: Code, changes: Fields = {}): Promise<[number, Answer]> =>
  ask('token', {
    ...{ grant_type: 'authorization_code', client_id: clientId, redirect_uri: redirectUrl },
    ...{ code, code_verifier: verifier, resource: `${server.url}/mcp` },
    ...changes,
  });
const refresh = (refreshToken = '', changes: Fields = {}): Promise<[number, Answer]> =>
  ask('token', { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken, ...changes });

const statusAt = async (path: string, token = ''): Promise<number> => {
  const init = path === '/mcp' ? { method: 'POST', body: '{}' } : {};
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${server.url}${path}`, { ...init, headers })).status;
};
const isOpen = async (token: string | undefined): Promise<boolean> => (await statusAt('/mcp', token)) !== 401;

describe('a code', () => {
  test('OA3: is good once, and its replay ends what it made', async () => {
    const code = await newCode();
    const [status, tokens] = await exchange(code);
    expect([status, await isOpen(tokens.access_token)]).toEqual([200, true]);
    expect(await exchange(code)).toMatchObject([400, { error: 'invalid_grant' }]);
    expect(await isOpen(tokens.access_token)).toBe(false);
    expect(await refresh(tokens.refresh_token)).toMatchObject([400, { error: 'invalid_grant' }]);
  });

  test('OA3: of many who use it at once, nobody keeps a token', async () => {
    const code = await newCode();
    const answers = await Promise.all(Array.from({ length: 6 }, () => exchange(code)));
    const tokens = answers.flatMap(([, { access_token }]) => access_token ?? []);
    expect(tokens.length).toBeLessThanOrEqual(1);
    expect(await Promise.all(tokens.map(isOpen))).not.toContain(true);
  });

  test('OA3: is good for its verifier, its address and its client alone', async () => {
    const other = (await register([redirectUrl]))[1].client_id ?? '';
    const wrong: Fields[] = [
      { code_verifier: makeVerifier().verifier },
      { code_verifier: '' },
      { redirect_uri: 'http://127.0.0.1:9/other' },
      { client_id: other },
      { client_id: 'nobody' },
      { resource: 'https://other.example.com/mcp' },
    ];
    for (const changes of wrong) {
      const [status, answer] = await exchange(await newCode(), changes);
      expect([status, answer.access_token, changes]).toEqual([400, undefined, changes]);
    }
    const headers = { authorization: `Basic ${btoa(`${clientId}:`)}` };
    const body = new URLSearchParams({ grant_type: 'authorization_code', code: 'x' });
    const basic = await fetch(`${server.url}/oauth/token`, { method: 'POST', headers, body });
    expect([basic.status, challengeOf(basic)]).toEqual([401, 'Basic realm="oauth"']);
    const [, stolen] = await exchange(await newCode(), { client_secret: 'x', grant_type: 'password' });
    expect(stolen.access_token).toBeUndefined();
  });
});

describe('a refresh token', () => {
  test('OA4: that is used again ends the grant for both who have it', async () => {
    const [, first] = await exchange(await newCode());
    const [, second] = await refresh(first.refresh_token);
    expect([await isOpen(first.access_token), await isOpen(second.access_token)]).toEqual([false, true]);
    expect(await refresh(first.refresh_token)).toMatchObject([400, { error: 'invalid_grant' }]);
    expect(await isOpen(second.access_token)).toBe(false);
    expect((await refresh(second.refresh_token))[0]).toBe(400);
  });

  test('OA4: is of no use to a client of another registration, or for a greater scope', async () => {
    const other = (await register([redirectUrl]))[1].client_id ?? '';
    const [, tokens] = await exchange(await newCode());
    expect((await refresh(tokens.refresh_token, { client_id: other }))[0]).toBe(400);
    expect(await refresh(tokens.refresh_token, { scope: 'admin' })).toMatchObject([
      400,
      { error: 'invalid_scope' },
    ]);
    expect((await refresh(tokens.refresh_token))[0]).toBe(200);
  });
});

describe('a request for an authorization', () => {
  const faults: Fields[] = [
    { code_challenge_method: 'plain' },
    { code_challenge_method: '' },
    { code_challenge: '' },
    { code_challenge: 'short' },
    { redirect_uri: 'https://evil.example.com/back' },
    { redirect_uri: 'http://127.0.0.1:9/back/../evil' },
    { redirect_uri: 'http://127.0.0.1:9@evil.example.com/back' },
    { redirect_uri: 'http://127.0.0.1.evil.example.com/back' },
    { redirect_uri: '' },
    { client_id: 'nobody' },
    { response_type: 'token' },
    { resource: 'https://other.example.com/mcp' },
    { scope: 'admin' },
    { scope: 'own:ro admin:ro' },
  ];
  test.each(faults)('OA2: with %o leads to no address', async (changes) => {
    const response = await fetch(pageOf(changes), { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([400, null]);
  });

  test('OA2: that names a parameter twice is refused', async () => {
    const twice = `${pageOf()}&redirect_uri=https%3A%2F%2Fevil.example.com`;
    expect((await fetch(twice, { redirect: 'manual' })).status).toBe(400);
  });

  test('OA2: may come back to another port of this machine, and nowhere else', async () => {
    const back = await consent(server, pageOf({ redirect_uri: 'http://127.0.0.1:4711/back' }));
    expect(back.origin).toBe('http://127.0.0.1:4711');
  });
});

describe('the consent', () => {
  test('OA5: needs a person: a token, or the cookie from a page of ours', async () => {
    const fields = { ...(await fieldsAt(pageOf())), approved: true, scope: defaultScope };
    expect((await decide({ url: server.url, token: 'nobody' }, fields)).status).toBe(401);
    const forged = await fetch(`${server.url}/api/auth/consent`, {
      method: 'POST',
      headers: { origin: 'https://evil.example.com', cookie: '__Host-sallyport=x' },
      body: JSON.stringify(fields),
    });
    expect(forged.status).toBe(403);
  });

  test('OA5: is checked again: no other address, no plain challenge, no other field', async () => {
    const fields = await fieldsAt(pageOf());
    const changes = [
      { redirectUri: 'https://evil.example.com/back' },
      { codeChallengeMethod: 'plain' },
      { clientId: 'nobody' },
      { resource: 'https://other.example.com/mcp' },
      { surprise: 'x' },
    ];
    for (const change of changes) {
      const response = await decide(server, { ...fields, approved: true, scope: defaultScope, ...change });
      expect([response.status, change]).toEqual([400, change]);
    }
    const refusal = { ...fields, redirectUri: 'https://evil.example.com/back', approved: false };
    expect((await decide(server, refusal)).status).toBe(400);
  });

  test('OA6: gives no more than the client asked for, and no more than the person has', async () => {
    const made = await server.request('/api/tokens', {
      method: 'POST',
      body: JSON.stringify({ name: 'reader', scope: `${defaultScope}:ro` }),
    });
    const reader = { url: server.url, token: ((await made.json()) as { token: string }).token };
    const give = async (person: { url: string; token: string }, asked: string, scope: string) => {
      const fields = await fieldsAt(pageOf({ scope: asked }));
      return (await decide(person, { ...fields, approved: true, scope })).status;
    };
    expect(await give(reader, 'own:write', defaultScope)).toBe(403);
    expect(await give(server, 'own:ro', defaultScope)).toBe(403);
    expect(await give(server, `project:${crypto.randomUUID()}`, defaultScope)).toBe(403);
    expect(await give(server, 'own:write', 'admin')).toBe(403);
    expect(await give(server, 'own:write', `project:${crypto.randomUUID()}`)).toBe(404);
    expect(await give(reader, 'own:write', `${defaultScope}:ro`)).toBe(200);
  });

  test('OA5: and the page around it are in no frame of another page', async () => {
    const { headers } = await fetch(`${server.url}/`);
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    const page = await fetch(pageOf(), { redirect: 'manual' });
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(page.headers.get('x-frame-options')).toBe('DENY');
  });
});

test('OA1: a token of a client opens /mcp and nothing else', async () => {
  const { tokens } = await connectByOAuth(server);
  const token = tokens?.access_token;
  expect(await isOpen(token)).toBe(true);
  for (const path of [
    '/api/sessions',
    '/api/access',
    '/api/tickets',
    '/api/auth/clients',
    '/api/auth/consent',
  ])
    expect([path, await statusAt(path, token)]).toEqual([path, 401]);
  expect(await statusAt('/mcp', tokens?.refresh_token)).toBe(401);
});

test('OA7: addresses that are registered are https or of this machine', async () => {
  const refused = [
    'http://evil.example.com/back',
    'javascript:alert(1)',
    'data:text/html,x',
    'myapp://back',
    'https://user:word@example.com/',
    'https://example.com/#x',
    'https://example.com\\@evil.example.com/',
    '//example.com/',
    `https://example.com/${'x'.repeat(600)}`,
    7,
  ];
  for (const uri of refused)
    expect([uri, await register([uri])]).toMatchObject([uri, [400, { error: 'invalid_redirect_uri' }]]);
  expect((await register([]))[0]).toBe(400);
  expect((await register(Array.from({ length: 11 }, (_, i) => `https://example.com/${i}`)))[0]).toBe(400);
  expect((await register(['https://example.com/back', 'http://localhost:1/back']))[0]).toBe(201);
});

test('OA7: a page of another origin can neither register a client nor read an answer', async () => {
  const [, answer] = await register([redirectUrl], { 'content-type': 'text/plain' });
  expect(answer.error).toBe('invalid_client_metadata');
  const preflight = await fetch(`${server.url}/oauth/register`, {
    method: 'OPTIONS',
    headers: { origin: 'https://evil.example.com', 'access-control-request-method': 'POST' },
  });
  expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
});

test('OA7: a flood of registrations ends at a number', async () => {
  const own = await startServer();
  const statuses: number[] = [];
  // An hour may end in between.
  while (statuses.length <= 2 * addressRegistrationsMax && statuses.at(-1) !== 429) {
    const response = await fetch(`${own.url}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: [redirectUrl] }),
    });
    statuses.push(response.status);
  }
  expect(new Set(statuses)).toEqual(new Set([201, 429]));
  await own.stop();
});

test('nothing that the server keeps or prints has a code or a token', async () => {
  const [, tokens] = await exchange(await newCode());
  const secrets = [tokens.access_token, tokens.refresh_token].map((text) => text?.slice(4) ?? 'none');
  expect(secrets.filter((text) => server.output().includes(text))).toEqual([]);
  const files = readdirSync(server.home, { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  expect(files.length).toBeGreaterThan(3);
  const stored = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'));
  expect(secrets.filter((text) => stored.some((content) => content.includes(text)))).toEqual([]);
});
