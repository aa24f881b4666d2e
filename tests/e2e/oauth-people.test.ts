/**
 * Clients that people who sign in with a browser connect, where the platform gives the tokens beside an OIDC provider: the cookie
 * consents for pages of our own origin alone, the client acts as the person, and "everywhere" ends it.
 */
import { auth } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Jar, openJar } from '../../shared/adapters/oidc/fixtures/cookie-jar.ts';
import { type RealIssuer, startRealIssuer } from '../../shared/adapters/oidc/fixtures/real-issuer.ts';
import { eventually } from './embedded-cloud.ts';
import { connect } from './mcp-clients.ts';
import { defaultScope, fieldsAt, makeProvider, redirectUrl } from './oauth-client.ts';
import { type Server, startServer } from './server.ts';

let issuer: RealIssuer;
let server: Server;

beforeAll(async () => {
  issuer = await startRealIssuer();
  server = await startServer({
    variables: {
      ...{ OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: 'sallyport', OIDC_CLIENT_ID: 'sallyport' },
      ...{ OIDC_CLIENT_SECRET: issuer.clientSecret, OIDC_LOGIN_SCOPES: 'openid email sallyport' },
      MCP_AUTHORIZATION_SERVER: 'platform',
    },
  });
  issuer.allow(`${server.url}/api/auth/callback`);
});
afterAll(async () => {
  await server?.stop();
  await issuer?.stop();
});

/** Each try of a test has people of its own: what is theirs is counted. */
const newPerson = (): string => {
  const who = crypto.randomUUID();
  issuer.people[who] = { email: `${who}@example.com`, sallyport_scope: defaultScope };
  return who;
};

const signedIn = async (who = newPerson()): Promise<Jar> => {
  const jar = openJar();
  const isBack = (url: string): boolean => url.startsWith(`${server.url}/api/auth/callback`);
  await jar.ask(await jar.signIn(`${server.url}/api/auth/login`, who, isBack));
  return jar;
};

const ask = (jar: Jar, path: string, init: { method?: string; body?: object; origin?: string } = {}) =>
  jar.ask(`${server.url}${path}`, {
    method: init.method ?? 'GET',
    headers: { origin: init.origin ?? server.url },
    ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
  });

const serverUrl = (): string => `${server.url}/mcp`;

const connectAs = async (jar: Jar) => {
  const { provider, kept } = makeProvider(redirectUrl);
  await auth(provider, { serverUrl: serverUrl() });
  const body = { ...(await fieldsAt(kept.page)), approved: true, scope: defaultScope };
  const response = await ask(jar, '/api/auth/consent', { method: 'POST', body });
  const { redirectTo } = (await response.json()) as { redirectTo: string };
  const { code: authorizationCode = '', iss = '' } = Object.fromEntries(new URL(redirectTo).searchParams);
  await auth(provider, { serverUrl: serverUrl(), authorizationCode, iss });
  return kept;
};

const clientsOf = async (jar: Jar): Promise<readonly { id: string }[]> =>
  ((await (await ask(jar, '/api/auth/clients')).json()) as { clients: { id: string }[] }).clients;
const statusOfMcp = async (token = ''): Promise<number> =>
  (await fetch(serverUrl(), { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: '{}' }))
    .status;

test('OA5: a page of another origin consents to nothing with the cookie of a person', async () => {
  const ada = await signedIn();
  const { provider, kept } = makeProvider(redirectUrl);
  await auth(provider, { serverUrl: serverUrl() });
  const body = { ...(await fieldsAt(kept.page)), approved: true, scope: defaultScope };
  const forged = await ask(ada, '/api/auth/consent', {
    method: 'POST',
    body,
    origin: 'https://evil.example.com',
  });
  expect(forged.status).toBe(403);
  const nameless = await ada.ask(`${server.url}/api/auth/consent`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  expect(nameless.status).toBe(403);
  expect(await clientsOf(ada)).toEqual([]);
});

test('OA8: a client acts as its person, who alone sees it, and a sign-out everywhere ends it', async () => {
  const [ada, bob] = [await signedIn(), await signedIn()];
  const [mine, his] = [await connectAs(ada), await connectAs(bob)];
  const tokenOf = (kept: typeof mine): string => kept.tokens?.access_token ?? '';
  const client = await connect({ url: server.url, token: tokenOf(mine) });
  expect((await client.tools()).map(({ name }) => name)).toContain('execute_code');
  await client.close();
  expect(
    await eventually(
      () => clientsOf(ada),
      (found) => found.length === 1,
    ),
  ).toHaveLength(1);
  const [of] = await eventually(
    () => clientsOf(bob),
    (found) => found.length === 1,
  );
  expect((await ask(ada, `/api/auth/clients/${of?.id}`, { method: 'DELETE' })).status).toBe(404);
  expect((await ask(ada, '/api/auth/logout', { method: 'POST', body: { everywhere: true } })).status).toBe(
    204,
  );
  expect(await statusOfMcp(tokenOf(mine))).toBe(401);
  expect(await statusOfMcp(tokenOf(his))).not.toBe(401);
});

test('a person sees the sign-ins of their browsers and ends one', async () => {
  const ada = newPerson();
  const [here, there] = [await signedIn(ada), await signedIn(ada)];
  type SignIns = { signIns: { id: string; isCurrent: boolean }[] };
  const signIns = async (): Promise<SignIns['signIns']> =>
    ((await (await ask(here, '/api/auth/sign-ins')).json()) as SignIns).signIns;
  const both = await eventually(signIns, (found) => found.length === 2);
  const other = both.find(({ isCurrent }) => !isCurrent);
  expect((await ask(here, `/api/auth/sign-ins/${other?.id}`, { method: 'DELETE' })).status).toBe(204);
  expect((await ask(there, '/api/access')).status).toBe(401);
  expect((await ask(here, '/api/access')).status).toBe(200);
});
