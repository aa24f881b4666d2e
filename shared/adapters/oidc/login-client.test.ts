/** The platform as a client of a real OpenID provider: what it accepts from it, and what it does not. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openJar } from './fixtures/cookie-jar.ts';
import { type RealIssuer, startRealIssuer } from './fixtures/real-issuer.ts';
import { makeLoginClient } from './login-client.ts';

const redirectUri = 'http://127.0.0.1:9/api/auth/callback';
const scopes = 'openid email sallyport';
const isBack = (url: string): boolean => url.startsWith(redirectUri);
const telemetry = { info: () => undefined, warn: () => undefined };
const settings = { scopes, scopeClaim: 'sallyport_scope', telemetry };

describe.each([true, false])('with claims in the ID token: %s', (claimsInIdToken) => {
  let issuer: RealIssuer;
  beforeAll(async () => {
    issuer = await startRealIssuer({ claimsInIdToken });
    issuer.allow(redirectUri);
    issuer.people['ada'] = { email: 'ada@example.com', sallyport_scope: 'admin:ro' };
  });
  afterAll(() => issuer.stop());

  const clientOf = (kind: 'public' | 'secret') =>
    makeLoginClient({
      ...settings,
      issuer: issuer.url,
      ...(kind === 'public'
        ? { clientId: 'public' }
        : { clientId: 'sallyport', clientSecret: async () => issuer.clientSecret }),
    });
  const begun = async (kind: 'public' | 'secret') => {
    const client = clientOf(kind);
    const { url, secrets } = await client.begin(redirectUri);
    return { client, url, secrets, callbackUrl: await openJar().signIn(url, 'ada', isBack) };
  };

  test.each(['public', 'secret'] as const)('a %s client learns who signed in, once a code', async (kind) => {
    const { client, url, secrets, callbackUrl } = await begun(kind);
    const asked = new URL(url).searchParams;
    expect([asked.get('code_challenge_method'), asked.get('response_type')]).toEqual(['S256', 'code']);
    expect(await client.finish({ callbackUrl, secrets })).toEqual({
      issuer: issuer.url,
      subject: 'ada',
      expiresAt: expect.any(Number),
      name: 'ada@example.com',
      scopeValue: 'admin:ro',
    });
    expect(await client.finish({ callbackUrl, secrets })).toBeUndefined();
  });

  test('an answer for other secrets, or one that was changed, names nobody', async () => {
    const other = 'x'.repeat(43);
    for (const change of [{ state: other }, { nonce: other }, { verifier: other }]) {
      const { client, secrets, callbackUrl } = await begun('secret');
      expect(await client.finish({ callbackUrl, secrets: { ...secrets, ...change } })).toBeUndefined();
    }
    const { client, secrets, callbackUrl } = await begun('secret');
    const refused = `${redirectUri}?error=access_denied&state=${secrets.state}`;
    expect(await client.finish({ callbackUrl: refused, secrets })).toBeUndefined();
    const mixedUp = callbackUrl.replace(/iss=[^&]+/, 'iss=https%3A%2F%2Fevil.example.com');
    expect(await client.finish({ callbackUrl: mixedUp, secrets })).toBeUndefined();
  });
});

test('an issuer that does not answer, or is another, is unavailable, and asked again the next time', async () => {
  const issuer = await startRealIssuer();
  const client = makeLoginClient({ ...settings, issuer: `${issuer.url}/other`, clientId: 'public' });
  await expect(client.begin(redirectUri)).rejects.toMatchObject({ code: 'issuer_unavailable' });
  await issuer.stop();
  await expect(client.begin(redirectUri)).rejects.toMatchObject({ code: 'issuer_unavailable' });
});
