/**
 * Sign-in of people with a browser, at a real OpenID provider: what the cookie opens and what it does not, whose pages may
 * use it, and its end.
 */
import { auth } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type Jar, openJar } from '../../shared/adapters/oidc/fixtures/cookie-jar.ts';
import { type RealIssuer, startRealIssuer } from '../../shared/adapters/oidc/fixtures/real-issuer.ts';
import { connect as connectMcp } from './mcp-clients.ts';
import { makeProvider, redirectUrl } from './oauth-client.ts';
import { type Server, startServer } from './server.ts';

let issuer: RealIssuer;
let server: Server;

beforeAll(async () => {
  issuer = await startRealIssuer();
  issuer.people['ada'] = { email: 'ada@example.com', sallyport_scope: 'admin' };
  issuer.people['bob'] = { sallyport_scope: `project:00000000-0000-4000-8000-000000000000` };
  server = await startServer({
    variables: {
      OIDC_ISSUER: issuer.url,
      OIDC_AUDIENCE: 'sallyport',
      OIDC_CLIENT_ID: 'sallyport',
      OIDC_CLIENT_SECRET: issuer.clientSecret,
      OIDC_LOGIN_SCOPES: 'openid email sallyport',
    },
  });
  issuer.allow(`${server.url}/api/auth/callback`);
});
afterAll(async () => {
  await server?.stop();
  await issuer?.stop();
});

const isBack = (url: string): boolean => url.startsWith(`${server.url}/api/auth/callback`);
const login = (jar: Jar, who: string, path = '/api/auth/login'): Promise<string> =>
  jar.signIn(`${server.url}${path}`, who, isBack);

const signedIn = async (who = 'ada'): Promise<Jar> => {
  const jar = openJar();
  const { status } = await jar.ask(await login(jar, who));
  expect(status).toBe(302);
  return jar;
};

const codeOf = async (response: Response): Promise<[number, string]> => [
  response.status,
  ((await response.json()) as { error: { code: string } }).error.code,
];
const own = (): Record<string, string> => ({ origin: server.url });
const cookieOf = (jar: Jar): string => `__Host-sallyport=${jar.cookies.get('__Host-sallyport')}`;

type Opened = { readonly socket: WebSocket; readonly closed: Promise<number> };
const open = (headers: Record<string, string>, subprotocols: string[] = []): Promise<number | Opened> =>
  new Promise((resolve) => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/ws`, subprotocols, { headers });
    const closed = new Promise<number>((close) => socket.once('close', close));
    socket.once('unexpected-response', (_, response) => resolve(response.statusCode ?? 0));
    socket.once('error', () => resolve(0));
    socket.once('message', () => resolve({ socket, closed }));
  });

describe('a person', () => {
  test('signs in at the provider, comes back to where they were, and works with the cookie', async () => {
    const jar = openJar();
    expect(await (await jar.ask(`${server.url}/api/auth`)).json()).toEqual({ login: true, signedIn: false });
    const back = await login(jar, 'ada', '/api/auth/login?returnTo=/%23/models');
    const response = await jar.ask(back);
    expect([response.status, response.headers.get('location')]).toEqual([302, '/#/models']);
    const [forgotten, cookie] = response.headers.getSetCookie();
    expect(forgotten).toMatch(/^__Host-sallyport-login=; Path=\/; Max-Age=0;/);
    expect(cookie).toMatch(
      /^__Host-sallyport=[0-9a-f]{64}; Path=\/; Max-Age=28800; HttpOnly; Secure; SameSite=Lax$/,
    );
    expect(await (await jar.ask(`${server.url}/api/auth`)).json()).toEqual({ login: true, signedIn: true });
    const access = await jar.ask(`${server.url}/api/access`);
    expect(await access.json()).toMatchObject({ scope: 'admin', name: 'ada@example.com', isPerson: true });
  });

  test('owns what they make, as with a JWT of the provider', async () => {
    const [ada, bob] = [await signedIn(), await signedIn('bob')];
    const made = await bob.ask(`${server.url}/api/sessions`, { method: 'POST', headers: own(), body: '{}' });
    expect(made.status).toBe(201);
    const { id } = (await made.json()) as { id: string };
    expect((await bob.ask(`${server.url}/api/sessions/${id}`)).status).toBe(200);
    expect((await ada.ask(`${server.url}/api/sessions/${id}`)).status).toBe(200);
    expect((await bob.ask(`${server.url}/api/tokens`)).status).toBe(403);
  });

  test('without a scope is refused, and gets no cookie', async () => {
    const jar = openJar();
    const response = await jar.ask(await login(jar, 'mallory'));
    expect(await codeOf(response)).toEqual([403, 'forbidden']);
    expect(jar.cookies.has('__Host-sallyport')).toBe(false);
  });
});

describe('the cookie', () => {
  test('is no bearer, and opens neither /mcp, previews nor links', async () => {
    const jar = await signedIn();
    const secret = jar.cookies.get('__Host-sallyport') ?? '';
    const made = await jar.ask(`${server.url}/api/sessions`, { method: 'POST', headers: own(), body: '{}' });
    const { id } = (await made.json()) as { id: string };
    const asBearer = { headers: { authorization: `Bearer ${secret}` } };
    expect((await fetch(`${server.url}/api/sessions`, asBearer)).status).toBe(401);
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    for (const init of [asBearer, { headers: { ...own(), cookie: cookieOf(jar) } }])
      expect((await fetch(`${server.url}/mcp`, { ...init, method: 'POST', body })).status).toBe(401);
    for (const path of [`/api/sessions/${id}/ports/8000/`, '/api/links/a?key=b'])
      expect([401, 404]).toContain((await jar.ask(`${server.url}${path}`, { headers: own() })).status);
    expect((await jar.ask(`${server.url}/api/sessions/${id}/ports/8000/`)).status).toBe(401);
  });

  test('AC10: writes for pages of its own origin alone', async () => {
    const jar = await signedIn();
    const write = (origin?: string) =>
      jar.ask(`${server.url}/api/sessions`, {
        method: 'POST',
        headers: origin === undefined ? {} : { origin },
        body: '{}',
      });
    expect((await write(server.url)).status).toBe(201);
    const [, , port = ''] = server.url.split(':');
    const others = [
      'null',
      'https://evil.example.com',
      `http://127.0.0.1:${Number(port) + 1}`,
      `https://127.0.0.1:${port}`,
    ];
    for (const origin of [undefined, ...others])
      expect(await codeOf(await write(origin))).toEqual([403, 'forbidden']);
    for (const headers of [{ origin: 'https://evil.example.com' }, { 'sec-fetch-site': 'same-site' }])
      expect((await jar.ask(`${server.url}/api/sessions`, { headers })).status).toBe(403);
    const out = await jar.ask(`${server.url}/api/auth/logout`, {
      method: 'POST',
      headers: { origin: 'null' },
    });
    expect(out.status).toBe(403);
    expect((await jar.ask(`${server.url}/api/access`)).status).toBe(200);
  });

  test('opens a socket for pages of its own origin alone, without a ticket', async () => {
    const cookie = cookieOf(await signedIn());
    const opened = await open({ cookie, ...own() });
    expect(opened).toMatchObject({ socket: expect.anything() });
    for (const headers of [
      { cookie },
      { cookie, origin: 'https://evil.example.com' },
      { cookie, origin: 'null' },
    ])
      expect(await open(headers as Record<string, string>)).toBe(403);
    expect(await open(own())).toBe(401);
    if (typeof opened !== 'number') opened.socket.close();
  });

  test('shows no answer as a page of ours', async () => {
    const { headers } = await (await signedIn()).ask(`${server.url}/api/sessions`);
    expect(headers.get('content-security-policy')).toContain('sandbox');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });
});

describe('a sign-out', () => {
  const signOut = (jar: Jar, body: object = {}): Promise<Response> =>
    jar.ask(`${server.url}/api/auth/logout`, { method: 'POST', headers: own(), body: JSON.stringify(body) });

  test('ends this browser alone, with its sockets and its tickets', async () => {
    const [here, there] = [await signedIn(), await signedIn()];
    const cookie = cookieOf(here);
    const asked = await here.ask(`${server.url}/api/tickets`, { method: 'POST', headers: own() });
    const { ticket } = (await asked.json()) as { ticket: string };
    const spent = await here.ask(`${server.url}/api/tickets`, { method: 'POST', headers: own() });
    const byTicket = await open({}, [
      'sallyport.v1',
      `ticket.${((await spent.json()) as { ticket: string }).ticket}`,
    ]);
    const opened = await open({ cookie, ...own() });
    if (typeof opened === 'number' || typeof byTicket === 'number') throw new Error('no socket opened');
    expect((await signOut(here)).status).toBe(204);
    expect(here.cookies.has('__Host-sallyport')).toBe(false);
    expect(await Promise.all([opened.closed, byTicket.closed])).toEqual([
      expect.any(Number),
      expect.any(Number),
    ]);
    expect((await fetch(`${server.url}/api/access`, { headers: { cookie } })).status).toBe(401);
    expect(await open({ cookie, ...own() })).toBe(401);
    expect(await open({}, ['sallyport.v1', `ticket.${ticket}`])).toBe(401);
    expect((await there.ask(`${server.url}/api/access`)).status).toBe(200);
    expect((await signOut(here)).status).toBe(204);
  });

  test('everywhere ends all browsers of the person, and is in the audit log', async () => {
    const [here, there, bob] = [await signedIn(), await signedIn(), await signedIn('bob')];
    const opened = await open({ cookie: cookieOf(there), ...own() });
    if (typeof opened === 'number') throw new Error('no socket opened');
    expect((await signOut(here, { everywhere: true })).status).toBe(204);
    await opened.closed;
    expect((await there.ask(`${server.url}/api/access`)).status).toBe(401);
    expect((await bob.ask(`${server.url}/api/access`)).status).toBe(200);
    const { rows } = (await (await server.request('/api/audit')).json()) as {
      rows: { action: string; actorName?: string; actorKind: string; detail: Record<string, unknown> }[];
    };
    const about = rows.filter(({ action }) => action.startsWith('person.'));
    expect(about.find(({ action }) => action === 'person.sign_out')).toMatchObject({
      actorKind: 'person',
      actorName: 'ada@example.com',
      detail: { everywhere: true },
    });
    expect(about.some(({ action }) => action === 'person.sign_in')).toBe(true);
    expect(JSON.stringify(rows)).not.toContain(there.cookies.get('__Host-sallyport'));
  });
});

describe('an answer of the provider', () => {
  test('AC11: counts only in the browser that asked, and once', async () => {
    const [mine, other] = [openJar(), openJar()];
    const back = await login(mine, 'ada');
    await other.ask(`${server.url}/api/auth/login`);
    for (const jar of [openJar(), other])
      expect(await codeOf(await jar.ask(back))).toEqual([400, 'invalid_request']);
    const flow = mine.cookies.get('__Host-sallyport-login') ?? '';
    expect((await mine.ask(back)).status).toBe(302);
    mine.cookies.set('__Host-sallyport-login', flow);
    expect(await codeOf(await mine.ask(back))).toEqual([401, 'unauthenticated']);
  });

  test('that is refused leads a browser back to the app', async () => {
    const response = await openJar().ask(`${server.url}/api/auth/callback?code=a&state=b`, {
      headers: { accept: 'text/html,*/*' },
    });
    expect([response.status, response.headers.get('location')]).toEqual([302, '/?sign-in=invalid_request']);
  });

  test.each(['//evil.example.com', 'https://evil.example.com', '/\\evil.example.com', 'chat'])(
    'never leads to %s',
    async (returnTo) => {
      const query = new URLSearchParams({ returnTo });
      const response = await openJar().ask(`${server.url}/api/auth/login?${query}`);
      expect(await codeOf(response)).toEqual([400, 'invalid_request']);
    },
  );
});

test('the client of the MCP SDK finds the provider by the metadata of /mcp, registers, and calls a tool', async () => {
  const { provider, kept } = makeProvider(redirectUrl, {
    grant_types: ['authorization_code'],
    scope: 'sallyport',
  });
  const serverUrl = `${server.url}/mcp`;
  expect(await auth(provider, { serverUrl })).toBe('REDIRECT');
  expect(new URL(kept.page).searchParams.get('resource')).toBe(serverUrl);
  const back = await openJar().signIn(kept.page, 'ada', (url) => url.startsWith(redirectUrl));
  const { code: authorizationCode = '', iss = '', error } = Object.fromEntries(new URL(back).searchParams);
  expect(error, back).toBeUndefined();
  expect(await auth(provider, { serverUrl, authorizationCode, iss })).toBe('AUTHORIZED');
  const client = await connectMcp({ url: server.url, token: kept.tokens?.access_token ?? '' });
  expect((await client.tools()).map(({ name }) => name)).toContain('token');
  await client.close();
});

test('a deployment without a client of the provider says that people cannot sign in', async () => {
  const plain = await startServer();
  expect(await (await fetch(`${plain.url}/api/auth`)).json()).toEqual({ login: false, signedIn: false });
  expect(await codeOf(await fetch(`${plain.url}/api/auth/login`))).toEqual([404, 'not_found']);
  await plain.stop();
});
