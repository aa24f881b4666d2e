/**
 * A client of `/mcp` that connects by OAuth as the client of the MCP SDK does, and the person at the consent page: the requests
 * that the page makes, with the token that the app holds.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  auth,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
} from '@modelcontextprotocol/client';

export type Kept = {
  client?: OAuthClientInformationMixed;
  tokens?: OAuthTokens;
  verifier: string;
  code?: string;
  discovered?: OAuthDiscoveryState;
  /** The address to which the client sends its person. */
  page: string;
};

export const defaultScope = 'project:00000000-0000-4000-8000-000000000000';

export const makeProvider = (
  redirectUrl: string,
  metadata: Partial<OAuthClientProvider['clientMetadata']> = {},
): { readonly provider: OAuthClientProvider; readonly kept: Kept } => {
  const kept: Kept = { verifier: '', page: '' };
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: {
      ...{ client_name: 'a client', redirect_uris: [redirectUrl], application_type: 'native' },
      ...{ token_endpoint_auth_method: 'none', response_types: ['code'] },
      grant_types: ['authorization_code', 'refresh_token'],
      ...metadata,
    },
    clientInformation: () => kept.client,
    saveClientInformation: (client) => void Object.assign(kept, { client }),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void Object.assign(kept, { tokens }),
    redirectToAuthorization: ({ href: page }) => void Object.assign(kept, { page }),
    saveCodeVerifier: (verifier) => void Object.assign(kept, { verifier }),
    codeVerifier: () => kept.verifier,
    saveDiscoveryState: (discovered) => void Object.assign(kept, { discovered }),
    discoveryState: () => kept.discovered,
  };
  return { provider, kept };
};

/** With the token that the app holds, or with the headers that a browser sends with its cookie. */
export type Person = { readonly url: string } & (
  | { readonly token: string }
  | { readonly person: Readonly<Record<string, string>> }
);

/** The fields of a client's request, as the browser brings them to the consent page. */
export const fieldsAt = async (page: string): Promise<Readonly<Record<string, string>>> => {
  const response = await fetch(page, { redirect: 'manual' });
  const location = response.headers.get('location') ?? '';
  if (!location.startsWith('/#/connect?')) throw new Error(`${response.status} ${await response.text()}`);
  return Object.fromEntries(new URLSearchParams(location.slice(location.indexOf('?'))));
};

export const decide = (
  { url, ...by }: Person,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  fetch(`${url}/api/auth/consent`, {
    method: 'POST',
    headers: { ...('token' in by ? { authorization: `Bearer ${by.token}` } : by.person), ...headers },
    body: JSON.stringify(body),
  });

/** The address of the client to which the browser goes, once the person consented. */
export const consent = async (person: Person, page: string, scope = defaultScope): Promise<URL> => {
  const response = await decide(person, { ...(await fieldsAt(page)), approved: true, scope });
  const body = (await response.json()) as { redirectTo?: string };
  if (body.redirectTo === undefined) throw new Error(JSON.stringify(body));
  return new URL(body.redirectTo);
};

export const redirectUrl = 'http://127.0.0.1:9/back';

/** A client that is connected. */
export const connectByOAuth = async (person: Person, scope = defaultScope): Promise<Kept> => {
  const { provider, kept } = makeProvider(redirectUrl);
  const serverUrl = `${person.url}/mcp`;
  await auth(provider, { serverUrl });
  const back = await consent(person, kept.page, scope);
  const { code: authorizationCode = '', iss = '' } = Object.fromEntries(back.searchParams);
  await auth(provider, { serverUrl, authorizationCode, iss });
  return { ...kept, code: authorizationCode };
};

export const makeVerifier = (): { readonly verifier: string; readonly challenge: string } => {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
};
