/**
 * `LoginClient` on the library `openid-client`: authorization code with PKCE (S256), state and nonce, and the signature of
 * the ID token checked by the issuer's keys.
 *
 * Refuses redirects and answers that are too slow or too large. The scope of a person is read from the ID token or, when it
 * has no such claim, from the issuer's user information. The library is loaded at the first sign-in.
 */
import type * as Client from 'openid-client';
import { AppError } from '#shared/errors.ts';
import type { LoginClient } from '#shared/ports/access.ts';
import type { Telemetry } from '#shared/ports/telemetry.ts';
import { nameIn } from './oidc-issuer.ts';

export type LoginOptions = {
  readonly issuer: string;
  readonly clientId: string;
  /** Absent: a public client, which has PKCE alone. */
  readonly clientSecret?: (() => Promise<string>) | undefined;
  /** The scopes that the issuer is asked for, with spaces between. */
  readonly scopes: string;
  /** The claim that names a person's scope. */
  readonly scopeClaim: string;
  readonly telemetry: Pick<Telemetry, 'info' | 'warn'>;
};

type Library = typeof Client;
type Known = { readonly library: Library; readonly config: Client.Configuration };

const answerSecondsMax = 5;
const answerBytesMax = 262_144;
/** The issuer's documents and keys, and the client's secret, are read again after this time. */
const knownMsMax = 600_000;

export const makeLoginClient = (options: LoginOptions): LoginClient => {
  let known: { readonly value: Promise<Known>; readonly until: number } | undefined;
  const know = async (): Promise<Known> => {
    if (known === undefined || Date.now() >= known.until)
      known = { value: discover(options), until: Date.now() + knownMsMax };
    const mine = known;
    try {
      return await mine.value;
    } catch (cause) {
      if (known === mine) known = undefined;
      options.telemetry.warn('the OIDC issuer did not answer a sign-in', { error: cause });
      throw issuerUnavailable(cause);
    }
  };
  return {
    begin: async (redirectUri) => {
      const { library, config } = await know();
      const [state, nonce] = [library.randomState(), library.randomNonce()];
      const verifier = library.randomPKCECodeVerifier();
      const url = library.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: options.scopes,
        state,
        nonce,
        code_challenge: await library.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, secrets: { state, nonce, verifier } };
    },
    finish: async ({ callbackUrl, secrets }) => {
      const { library, config } = await know();
      try {
        const tokens = await library.authorizationCodeGrant(config, new URL(callbackUrl), {
          pkceCodeVerifier: secrets.verifier,
          expectedState: secrets.state,
          expectedNonce: secrets.nonce,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (claims === undefined) return undefined;
        const all = await withUserInfo({ library, config }, { tokens, claims }, options.scopeClaim);
        return identityOf(all, { ...options, subject: claims.sub, expiresAt: claims.exp * 1000 });
      } catch (error) {
        if (isUnanswered(library, error)) throw issuerUnavailable(error);
        // The log has the kind of failure; what the issuer wrote may name the person.
        options.telemetry.info('a sign-in was refused', { reason: codeOf(error) });
        return undefined;
      }
    },
  };
};

const discover = async ({ issuer, clientId, clientSecret, scopes: _ }: LoginOptions): Promise<Known> => {
  const library = await import('openid-client');
  const secret = await clientSecret?.();
  const insecure = new URL(issuer).protocol === 'http:' ? [library.allowInsecureRequests] : [];
  const config = await library.discovery(
    new URL(issuer),
    clientId,
    secret,
    secret === undefined ? library.None() : authenticating(library, secret),
    {
      execute: [...insecure, library.enableNonRepudiationChecks],
      timeout: answerSecondsMax,
      [library.customFetch]: fetchBounded,
    },
  );
  return { library, config };
};

/** As the issuer wishes; without a wish, in the header (OpenID Connect Discovery 1.0, 3). */
const authenticating = (library: Library, secret: string): Client.ClientAuth => {
  const [basic, post] = [library.ClientSecretBasic(secret), library.ClientSecretPost(secret)];
  return (server, ...request) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    (methods.includes('client_secret_basic') ? basic : post)(server, ...request);
  };
};

/** The issuer's answer, whole and of a bounded size. */
const fetchBounded: Client.CustomFetch = async (url, options) => {
  const response = await fetch(url, { ...(options as RequestInit), redirect: 'error' });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > answerBytesMax) throw new Error(`the issuer answered more than ${answerBytesMax} bytes`);
    chunks.push(chunk);
  }
  const hasBody = ![204, 205, 304].includes(response.status);
  const { status, headers } = response;
  return new Response(hasBody ? Buffer.concat(chunks) : null, { status, headers });
};

type Claims = Readonly<Record<string, unknown>>;
type Granted = {
  readonly tokens: { readonly access_token: string };
  readonly claims: Claims & { readonly sub: string };
};

const withUserInfo = async (
  { library, config }: Known,
  { tokens, claims }: Granted,
  scopeClaim: string,
): Promise<Claims> => {
  if (Object.hasOwn(claims, scopeClaim)) return claims;
  if (config.serverMetadata().userinfo_endpoint === undefined) return claims;
  const further = await library.fetchUserInfo(config, tokens.access_token, claims.sub);
  return { ...further, ...claims };
};

type Person = {
  readonly issuer: string;
  readonly subject: string;
  readonly expiresAt: number;
  readonly scopeClaim: string;
};

const identityOf = (claims: Claims, { issuer, subject, expiresAt, scopeClaim }: Person) => {
  const name = nameIn(claims);
  const scopeValue = Object.hasOwn(claims, scopeClaim) ? claims[scopeClaim] : undefined;
  return { issuer, subject, expiresAt, scopeValue, ...(name === undefined ? {} : { name }) };
};

const codeOf = (error: unknown): string =>
  error instanceof Error
    ? String(Reflect.get(error, 'error') ?? Reflect.get(error, 'code') ?? error.name)
    : 'unknown';

/** No answer, or one that blames the issuer itself. */
const isUnanswered = (library: Library, error: unknown): boolean => {
  if (error instanceof library.ResponseBodyError) return error.status >= 500;
  const code = codeOf(error);
  return error instanceof TypeError || code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT';
};

const issuerUnavailable = (cause: unknown): AppError =>
  new AppError('issuer_unavailable', 'the sign-in service did not answer', {
    cause,
    suggestions: ['Try again in a moment.'],
    recoveryActions: ['wait_and_retry'],
  });
