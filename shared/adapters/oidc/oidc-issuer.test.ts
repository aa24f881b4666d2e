import { createHmac } from 'node:crypto';
import { type CryptoKey, exportSPKI, importJWK } from 'jose';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { IdentityIssuer } from '#shared/ports/access.ts';
import {
  audience,
  type LocalIssuer,
  makeKey,
  sending,
  startIssuer,
  unsigned,
} from './fixtures/local-issuer.ts';
import { makeOidcIssuer } from './oidc-issuer.ts';

let local: LocalIssuer;
let clock: number;
let printed: unknown[];
let oidc: IdentityIssuer;

const telemetry = {
  info: (...line: unknown[]) => void printed.push(line),
  warn: (...line: unknown[]) => void printed.push(line),
};
const times = { freshMs: 600_000, staleMs: 3_600_000, cooldownMs: 30_000, retryMs: 5000 };
const open = (issuer: string): IdentityIssuer =>
  makeOidcIssuer({ issuer, audience, scopeClaim: 'sallyport_scope', telemetry, now: () => clock, times });
const seconds = (): number => Math.floor(clock / 1000);

beforeEach(async () => {
  local = await startIssuer();
  clock = Date.now();
  printed = [];
  oidc = open(local.url);
});
afterEach(() => local.stop().catch(() => undefined));

describe('a token that is good', () => {
  test('gives the person, the expiry and the scope in its claim', async () => {
    const exp = seconds() + 60;
    const token = await local.sign({ claims: { exp, sallyport_scope: ['admin'] } });
    expect(await oidc.verify(token)).toEqual({
      issuer: local.url,
      subject: 'ada',
      expiresAt: exp * 1000,
      scopeValue: ['admin'],
    });
  });

  test('without the claim has no scope, whatever an object inherits', async () => {
    const bare = makeOidcIssuer({ issuer: local.url, audience, scopeClaim: 'constructor', telemetry });
    expect(await oidc.verify(await local.sign())).toMatchObject({ scopeValue: undefined });
    expect(await bare.verify(await local.sign())).toMatchObject({ scopeValue: undefined });
  });

  test.each(['ES256', 'ES512', 'RS256', 'PS384', 'EdDSA'])('may be signed by %s', async (alg) => {
    const key = await makeKey(alg);
    local.published.keys.push(key.publicJwk);
    expect(await oidc.verify(await local.sign({ key }))).toMatchObject({ subject: 'ada' });
  });

  test.each(['JWT', 'at+jwt', 'application/at+JWT'])('may be of the type %s', async (typ) => {
    expect(await oidc.verify(await local.sign({ header: { typ } }))).toMatchObject({ subject: 'ada' });
  });

  test('may have other audiences, too', async () => {
    const token = await local.sign({ claims: { aud: ['others', audience] } });
    expect(await oidc.verify(token)).toMatchObject({ subject: 'ada' });
  });

  test('may begin in half a minute, by the issuer’s clock', async () => {
    const token = await local.sign({ claims: { nbf: seconds() + 25 } });
    expect(await oidc.verify(token)).toMatchObject({ subject: 'ada' });
  });

  test('is valid from its start time', async () => {
    const token = await local.sign({ claims: { nbf: seconds() + 300 } });
    expect(await oidc.verify(token)).toBeUndefined();
    clock += 300_000;
    expect(await oidc.verify(token)).toMatchObject({ subject: 'ada' });
  });

  test('may come from an issuer with a path and a slash at its end', async () => {
    const nested = await startIssuer('/realms/one');
    nested.answers.discovery = sending({ issuer: `${nested.url}/`, jwks_uri: `${nested.url}/keys` });
    const token = await nested.sign({ claims: { iss: `${nested.url}/` } });
    expect(await open(`${nested.url}/`).verify(token)).toMatchObject({ subject: 'ada' });
    await nested.stop();
  });
});

describe('a token is refused', () => {
  const refused: [string, () => Promise<string>, string][] = [
    ['that has expired', () => local.sign({ claims: { exp: seconds() - 31 } }), 'ERR_JWT_EXPIRED'],
    ['that has no end', () => local.sign({ claims: { exp: undefined } }), 'ERR_JWT_CLAIM_VALIDATION_FAILED'],
    [
      'that begins in a minute',
      () => local.sign({ claims: { nbf: seconds() + 60 } }),
      'ERR_JWT_CLAIM_VALIDATION_FAILED',
    ],
    [
      'for another audience',
      () => local.sign({ claims: { aud: 'others' } }),
      'ERR_JWT_CLAIM_VALIDATION_FAILED',
    ],
    ['for no audience', () => local.sign({ claims: { aud: undefined } }), 'ERR_JWT_CLAIM_VALIDATION_FAILED'],
    [
      'of another issuer',
      () => local.sign({ claims: { iss: 'https://other.example.com' } }),
      'ERR_JWT_CLAIM_VALIDATION_FAILED',
    ],
    [
      'without a subject',
      () => local.sign({ claims: { sub: undefined } }),
      'ERR_JWT_CLAIM_VALIDATION_FAILED',
    ],
    [
      'made to log somebody out',
      () => local.sign({ header: { typ: 'logout+jwt' } }),
      'ERR_JWT_CLAIM_VALIDATION_FAILED',
    ],
    [
      'signed by another key under the same name',
      async () => local.sign({ key: { ...(await makeKey()), kid: local.key.kid } }),
      'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
    ],
  ];

  test.each(refused)('%s', async (_what, sign, reason) => {
    const token = await sign();
    expect(await oidc.verify(token)).toBeUndefined();
    expect(printed).toEqual([['a JWT was refused', expect.objectContaining({ reason })]]);
    expect(JSON.stringify(printed)).not.toContain(token.split('.')[2]);
  });

  const claims = () => ({ iss: local.url, aud: audience, sub: 'ada', exp: seconds() + 60 });

  test('that is unsigned, and no key is fetched', async () => {
    for (const alg of ['none', 'None', ''])
      expect(await oidc.verify(unsigned(claims(), () => '', { alg, kid: local.key.kid }))).toBeUndefined();
    expect(local.asked).toEqual({ discovery: 0, keys: 0 });
  });

  test('whose secret is the public key, and no key is fetched', async () => {
    const rsa = await makeKey('RS256');
    local.published.keys = [rsa.publicJwk];
    const secret = await exportSPKI((await importJWK(rsa.publicJwk, 'RS256')) as CryptoKey);
    const mac = (input: string) => createHmac('sha256', secret).update(input).digest('base64url');
    expect(await oidc.verify(unsigned(claims(), mac, { alg: 'HS256', kid: rsa.kid }))).toBeUndefined();
    expect(local.asked).toEqual({ discovery: 0, keys: 0 });
  });

  test('that contains its own key', async () => {
    const own = await makeKey();
    const token = await local.sign({ key: { ...own, kid: local.key.kid }, header: { jwk: own.publicJwk } });
    expect(await oidc.verify(token)).toBeUndefined();
  });

  test('over 8 KB, unread', async () => {
    const sized = (padding: number) => local.sign({ claims: { padding: 'x'.repeat(padding) } });
    const bare = (await sized(0)).length;
    const [fitting, large] = [
      await sized(Math.floor((8192 - bare) * 0.75)),
      await sized((8200 - bare) * 0.75),
    ];
    expect([fitting.length <= 8192, large.length > 8192]).toEqual([true, true]);
    expect(await oidc.verify(fitting)).toMatchObject({ subject: 'ada' });
    expect(await oidc.verify(large)).toBeUndefined();
    expect(printed).toEqual([]);
  });

  test('at its expiry, without leeway', async () => {
    const exp = seconds() + 10;
    const token = await local.sign({ claims: { exp } });
    clock = exp * 1000 - 1;
    expect(await oidc.verify(token)).toMatchObject({ expiresAt: exp * 1000 });
    clock = exp * 1000;
    expect(await oidc.verify(token)).toBeUndefined();
  });

  test('with an empty subject', async () => {
    expect(await oidc.verify(await local.sign({ claims: { sub: '' } }))).toBeUndefined();
  });

  test('that is not a token, without an exception', async () => {
    const parts = ['', 'e30', 'bnVsbA', 'W10', 'eyJhbGciOiJFUzI1NiJ9', 'eyJhbGciOjF9', '-_-', 'x'.repeat(99)];
    for (const first of parts)
      for (const second of parts)
        for (const third of parts) expect(await oidc.verify(`${first}.${second}.${third}`)).toBeUndefined();
  });
});
