/**
 * Clients that connect to `/mcp` without a token: they register, a person consents in the app, and each access token is followed by
 * the next until the person, the client, or the credential of the person ends it.
 */
import { auth } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from './embedded-cloud.ts';
import { connect } from './mcp-clients.ts';
import {
  connectByOAuth,
  consent,
  decide,
  defaultScope,
  fieldsAt,
  makeProvider,
  redirectUrl,
} from './oauth-client.ts';
import { type Server, startServer } from './server.ts';

let server: Server;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server?.stop());

const readJson = async (path: string, init?: RequestInit) => (await server.request(path, init)).json();
const post = (body: object): RequestInit => ({ method: 'POST', body: JSON.stringify(body) });
const statusOfMcp = async (token: string | undefined): Promise<number> =>
  (
    await fetch(`${server.url}/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: '{}',
    })
  ).status;
const unauthorized = 401;
const clients = async (token = server.token) => {
  const response = await fetch(`${server.url}/api/auth/clients`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return ((await response.json()) as { clients: { id: string; name: string; scope: string; host: string }[] })
    .clients;
};
const makeToken = async (scope: string): Promise<{ id: string; token: string }> =>
  (await readJson('/api/tokens', post({ name: 'ann', scope }))) as { id: string; token: string };

test('the metadata leads from /mcp to the authorization server of the platform', async () => {
  const { headers } = await fetch(`${server.url}/mcp`, { method: 'POST' });
  const address = /resource_metadata="([^"]+)"/.exec(headers.get('www-authenticate') ?? '')?.[1] ?? '';
  const resource = (await (await fetch(address)).json()) as Record<string, unknown>;
  expect(resource).toMatchObject({
    resource: `${server.url}/mcp`,
    authorization_servers: [server.url],
    scopes_supported: ['own:write', 'own:ro'],
  });
  expect(await (await fetch(`${server.url}/.well-known/oauth-authorization-server`)).json()).toMatchObject({
    issuer: server.url,
    authorization_endpoint: `${server.url}/oauth/authorize`,
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
  });
});

test('the client of the MCP SDK registers, waits for a person, and calls tools of the project it was given', async () => {
  const clientName = `Claude Code ${crypto.randomUUID()}`;
  const { provider, kept } = makeProvider(redirectUrl, { client_name: clientName });
  const serverUrl = `${server.url}/mcp`;
  expect(await auth(provider, { serverUrl })).toBe('REDIRECT');
  expect(new URL(kept.page).searchParams.get('resource')).toBe(serverUrl);
  const shown = await readJson(`/api/auth/consent?${new URLSearchParams(await fieldsAt(kept.page))}`);
  expect(shown).toMatchObject({
    client: { name: clientName, redirectUri: redirectUrl, host: 'this machine' },
    access: ['write', 'read'],
  });
  const back = await consent(server, kept.page);
  const { code: authorizationCode = '', iss = '' } = Object.fromEntries(back.searchParams);
  expect(iss).toBe(server.url);
  expect(await auth(provider, { serverUrl, authorizationCode, iss })).toBe('AUTHORIZED');
  expect(kept.tokens).toMatchObject({ token_type: 'Bearer', scope: defaultScope });
  const client = await connect({ url: server.url, token: kept.tokens?.access_token ?? '' });
  const names = (await client.tools()).map(({ name }) => name);
  expect(names).toContain('execute_code');
  expect(names).not.toContain('token');
  await client.close();
  expect(
    await eventually(
      async () => (await clients()).filter(({ name }) => name === clientName),
      (found) => found.length > 0,
    ),
  ).toMatchObject([{ scope: defaultScope, host: 'this machine' }]);
});

test('a person may refuse, which the client is told', async () => {
  const { provider, kept } = makeProvider(redirectUrl);
  await auth(provider, { serverUrl: `${server.url}/mcp` });
  const response = await decide(server, { ...(await fieldsAt(kept.page)), approved: false });
  const { redirectTo } = (await response.json()) as { redirectTo: string };
  expect(Object.fromEntries(new URL(redirectTo).searchParams)).toMatchObject({ error: 'access_denied' });
});

describe('a client', () => {
  test('has a new pair of tokens for a refresh token, and the old access token ends', async () => {
    const connected = await connectByOAuth(server);
    const former = { ...connected.tokens };
    const { provider, kept } = makeProvider(redirectUrl);
    Object.assign(kept, connected);
    expect(await auth(provider, { serverUrl: `${server.url}/mcp` })).toBe('AUTHORIZED');
    expect(kept.tokens?.access_token).not.toBe(former.access_token);
    expect(kept.tokens?.refresh_token).not.toBe(former.refresh_token);
    expect(await statusOfMcp(former.access_token)).toBe(unauthorized);
    expect(await statusOfMcp(kept.tokens?.access_token)).not.toBe(unauthorized);
  });

  test('ends by its own revocation', async () => {
    const kept = await connectByOAuth(server);
    const body = new URLSearchParams({
      token: kept.tokens?.refresh_token ?? '',
      client_id: kept.client?.client_id ?? '',
    });
    expect((await fetch(`${server.url}/oauth/revoke`, { method: 'POST', body })).status).toBe(200);
    expect(await statusOfMcp(kept.tokens?.access_token)).toBe(unauthorized);
  });

  test('is listed for its person alone, who ends it', async () => {
    const [ann, bob] = [await makeToken(defaultScope), await makeToken(defaultScope)];
    const kept = await connectByOAuth({ url: server.url, token: ann.token }, `${defaultScope}:ro`);
    const [mine] = await eventually(
      () => clients(ann.token),
      (found) => found.length > 0,
    );
    expect(await clients(bob.token)).toEqual([]);
    const end = (token: string) =>
      fetch(`${server.url}/api/auth/clients/${mine?.id}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${token}` },
      });
    expect((await end(bob.token)).status).toBe(404);
    expect(await statusOfMcp(kept.tokens?.access_token)).not.toBe(unauthorized);
    expect((await end(ann.token)).status).toBe(204);
    expect(await statusOfMcp(kept.tokens?.access_token)).toBe(unauthorized);
  });

  test('ends with the token with which its person consented', async () => {
    const ann = await makeToken(defaultScope);
    const kept = await connectByOAuth({ url: server.url, token: ann.token });
    await eventually(
      () => clients(ann.token),
      (found) => found.length > 0,
    );
    expect((await server.request(`/api/tokens/${ann.id}`, { method: 'DELETE' })).status).toBe(200);
    expect(await statusOfMcp(kept.tokens?.access_token)).toBe(unauthorized);
  });
});

test('what happened is in the audit log, without a token', async () => {
  const { rows } = (await readJson('/api/audit')) as { rows: { action: string; detail: object }[] };
  const actions = rows.map(({ action }) => action);
  expect(actions).toEqual(expect.arrayContaining(['client.connect', 'client.disconnect']));
  expect(JSON.stringify(rows)).not.toMatch(/sp[crm]_/);
});
