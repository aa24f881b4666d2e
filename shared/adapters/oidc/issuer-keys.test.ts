import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { errorBody, isAppError } from '#shared/errors.ts';
import type { IdentityIssuer } from '#shared/ports/access.ts';
import {
  type Answer,
  audience,
  type LocalIssuer,
  makeKey,
  sending,
  startIssuer,
} from './fixtures/local-issuer.ts';
import { makeOidcIssuer } from './oidc-issuer.ts';

let local: LocalIssuer;
let clock: number;
let warned: unknown[][];
let oidc: IdentityIssuer;

const times = { freshMs: 60_000, staleMs: 300_000, cooldownMs: 30_000, retryMs: 5000 };

beforeEach(async () => {
  local = await startIssuer();
  clock = Date.now();
  warned = [];
  oidc = makeOidcIssuer({
    issuer: local.url,
    audience,
    scopeClaim: 'sallyport_scope',
    telemetry: { info: () => undefined, warn: (...line) => void warned.push(line) },
    now: () => clock,
    times,
  });
});
afterEach(() => local.stop().catch(() => undefined));

/** The answer to a token: its subject, undefined, or an error code. */
const heard = async (token: string): Promise<string | undefined> => {
  try {
    return (await oidc.verify(token))?.subject;
  } catch (error) {
    if (!isAppError(error)) throw error;
    expect(JSON.stringify(errorBody(error, 'r'))).not.toMatch(/127\.0\.0\.1|http/);
    return error.code;
  }
};

describe('the keys', () => {
  test('are fetched once, for concurrent and later tokens', async () => {
    const tokens = await Promise.all(Array.from({ length: 20 }, () => local.sign()));
    expect(await Promise.all(tokens.map(heard))).toEqual(Array(20).fill('ada'));
    expect(await heard(await local.sign())).toBe('ada');
    expect(local.asked).toEqual({ discovery: 1, keys: 1 });
  });

  test('are fetched again when they are old, and their URL is cached', async () => {
    const token = await local.sign();
    expect(await heard(token)).toBe('ada');
    clock += times.freshMs;
    expect(await heard(token)).toBe('ada');
    expect(local.asked).toEqual({ discovery: 1, keys: 2 });
  });

  test('that the issuer withdrew are refused', async () => {
    const token = await local.sign();
    expect(await heard(token)).toBe('ada');
    local.published.keys = [(await makeKey()).publicJwk];
    clock += times.freshMs;
    expect(await heard(token)).toBeUndefined();
  });

  test('that are new are found at once, after the cooldown', async () => {
    expect(await heard(await local.sign())).toBe('ada');
    const key = await makeKey();
    local.published.keys.push(key.publicJwk);
    const token = await local.sign({ key });
    expect(await heard(token)).toBeUndefined();
    clock += times.cooldownMs;
    expect(await heard(token)).toBe('ada');
  });

  test('that are forged cause at most one request to the issuer per cooldown', async () => {
    const key = await makeKey();
    const flood = async () => {
      for (let i = 0; i < 50; i++) {
        const token = await local.sign({ key: { ...key, kid: `forged-${i}` } });
        expect(await heard(token)).toBeUndefined();
      }
    };
    await flood();
    clock += times.cooldownMs - 1;
    await flood();
    expect(local.asked.keys).toBe(1);
    clock += 1;
    await flood();
    expect(local.asked.keys).toBe(2);
  });
});

describe('an unreachable issuer', () => {
  test('does not affect tokens with known keys, for a while', async () => {
    const token = await local.sign();
    expect(await heard(token)).toBe('ada');
    await local.stop();
    clock += times.staleMs - 1;
    expect(await heard(token)).toBe('ada');
    clock += 1;
    expect(await heard(token)).toBe('issuer_unavailable');
    expect(warned[0]).toEqual(['the OIDC issuer did not give its keys', { error: expect.any(Error) }]);
  });

  test('is not called at every request, and is found when it is back', async () => {
    await local.stop();
    const token = await local.sign();
    for (let i = 0; i < 10; i++) expect(await heard(token)).toBe('issuer_unavailable');
    expect(warned).toHaveLength(1);
    await local.restart();
    expect(await heard(token)).toBe('issuer_unavailable');
    clock += times.retryMs;
    expect(await heard(token)).toBe('ada');
    expect(await heard(await local.sign({ key: await makeKey() }))).toBeUndefined();
  });

  test('may have a new key: no caller is told that its token is invalid', async () => {
    expect(await heard(await local.sign())).toBe('ada');
    await local.stop();
    clock += times.cooldownMs;
    expect(await heard(await local.sign({ key: await makeKey() }))).toBe('issuer_unavailable');
    expect(await heard(await local.sign())).toBe('ada');
  });

  test('may have moved its keys: their URL is fetched again', async () => {
    local.answers.discovery = sending({ issuer: local.url, jwks_uri: `${local.url}/gone` });
    const token = await local.sign();
    expect(await heard(token)).toBe('issuer_unavailable');
    delete local.answers.discovery;
    clock += times.retryMs;
    expect(await heard(token)).toBe('ada');
  });
});

describe('an issuer is not trusted', () => {
  const wrong = (more: object): Answer =>
    sending({ issuer: local.url, jwks_uri: `${local.url}/keys`, ...more });
  const answers: [string, 'discovery' | 'keys', () => Answer][] = [
    ['when its document is of another', 'discovery', () => wrong({ issuer: 'https://other.example.com' })],
    ['when its document names no keys', 'discovery', () => wrong({ jwks_uri: undefined })],
    [
      'when its keys are without https on another host',
      'discovery',
      () => wrong({ jwks_uri: `${local.url.replace('127.0.0.1', 'localhost')}/keys` }),
    ],
    ['when its keys are a file', 'discovery', () => wrong({ jwks_uri: 'file:///etc/passwd' })],
    ['when its document is null', 'discovery', () => sending(null)],
    ['when its keys are no keys', 'keys', () => sending({ keys: 'all' })],
    ['when its keys are odd', 'keys', () => sending({ keys: [1] })],
    ['when it is no JSON', 'keys', () => (response) => void response.end('<html>')],
    [
      'when it fails',
      'keys',
      () => (response) => void response.writeHead(500).end(JSON.stringify(local.published)),
    ],
    [
      'when it sends us on',
      'keys',
      () => {
        const location = `${local.url}/.well-known/openid-configuration`;
        local.answers.discovery = wrong({ ...local.published });
        return (response) => void response.writeHead(302, { location }).end();
      },
    ],
    ['when its keys are null', 'keys', () => sending(null)],
    ['when it says too much', 'keys', () => sending({ keys: [], padding: 'x'.repeat(262_144) })],
  ];

  test.each(answers)('%s', async (_what, document, answer) => {
    local.answers[document] = answer();
    expect(await heard(await local.sign())).toBe('issuer_unavailable');
    expect(warned).toHaveLength(1);
  });

  test('when it takes longer than three seconds, for both documents together', async () => {
    const late: Answer = (response) => {
      void sleep(1900).then(() => sending({ issuer: local.url, jwks_uri: `${local.url}/keys` })(response));
    };
    local.answers.discovery = late;
    local.answers.keys = late;
    const started = performance.now();
    expect(await heard(await local.sign())).toBe('issuer_unavailable');
    const took = performance.now() - started;
    expect([took > 2900, took < 3700]).toEqual([true, true]);
  });
});
