/** A person who signs in with a browser, opens a socket by cookie, connects clients of `/mcp`, and signs out everywhere: the rest of the scenario has tokens. */
import { WebSocket } from 'ws';
import { openJar } from '../../shared/adapters/oidc/fixtures/cookie-jar.ts';
import type { RealIssuer } from '../../shared/adapters/oidc/fixtures/real-issuer.ts';
import type { EmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { connect as connectMcp } from '../e2e/mcp-clients.ts';
import { connectByOAuth, redirectUrl } from '../e2e/oauth-client.ts';

/** One client is renewed, revokes its tokens and replays a code; the sign-out ends the other. */
const connectClients = async (
  { url }: EmbeddedCloud,
  person: Readonly<Record<string, string>>,
): Promise<void> => {
  const connected = await connectByOAuth({ url, person });
  await connectByOAuth({ url, person });
  const { client, tokens } = connected;
  const clientId = client?.client_id ?? '';
  const ask = (path: string, fields: Readonly<Record<string, string>>) =>
    fetch(`${url}/oauth/${path}`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: clientId, ...fields }),
    });
  const refreshToken = tokens?.refresh_token ?? '';
  const renewed = await ask('token', { grant_type: 'refresh_token', refresh_token: refreshToken });
  const next = (await renewed.json()) as { access_token: string };
  const used = await connectMcp({ url, token: next.access_token });
  await used.tools();
  await used.close();
  await ask('revoke', { token: next.access_token });
  const replayed = await ask('token', {
    ...{ grant_type: 'authorization_code', redirect_uri: redirectUrl },
    ...{ code: connected.code ?? '', code_verifier: connected.verifier },
  });
  if (renewed.status !== 200 || replayed.status !== 400)
    throw new Error(`a client was answered ${renewed.status} and ${replayed.status}`);
};

export const signInAndOut = async (cloud: EmbeddedCloud, issuer: RealIssuer): Promise<void> => {
  const callback = `${cloud.url}/api/auth/callback`;
  issuer.allow(callback);
  issuer.people['ada'] = { sallyport_scope: 'admin' };
  const jar = openJar();
  const back = await jar.signIn(`${cloud.url}/api/auth/login`, 'ada', (url) => url.startsWith(callback));
  const { status } = await jar.ask(back);
  if (status !== 302) throw new Error(`the sign-in ended with ${status}`);
  const cookie = `__Host-sallyport=${jar.cookies.get('__Host-sallyport')}`;
  const headers = { cookie, origin: cloud.url };
  const socket = new WebSocket(`${cloud.url.replace('http', 'ws')}/ws?approvals=1`, { headers });
  await new Promise((resolve, reject) => {
    socket.once('message', resolve);
    socket.once('error', reject);
  });
  await connectClients(cloud, headers);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const out = await jar.ask(`${cloud.url}/api/auth/logout`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ everywhere: true }),
  });
  if (out.status !== 204) throw new Error(`the sign-out ended with ${out.status}`);
  await closed;
};
