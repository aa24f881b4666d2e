/**
 * `IdentityIssuer` over OpenID Connect: verifies a JWT against the keys its issuer publishes.
 *
 * Refuses before any key is fetched: a token over 8 KB, and every algorithm that is not asymmetric, so that a
 * public key is never taken for a secret. Then a wrong signature, issuer, audience, or time, and tokens made for
 * another purpose (their `typ` says so: https://www.rfc-editor.org/rfc/rfc8725#section-3.11). The log says which
 * check refused, never the token's content.
 */
import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { Identity } from '#shared/domain/person.ts';
import type { IdentityIssuer } from '#shared/ports/access.ts';
import type { Telemetry } from '#shared/ports/telemetry.ts';
import { makeKeyFetcher } from './issuer-documents.ts';
import { type KeyTimes, keyTimes, makeKeyCache } from './issuer-keys.ts';

export type OidcOptions = {
  readonly issuer: string;
  readonly audience: string;
  /** The claim that names a person's scope. */
  readonly scopeClaim: string;
  readonly telemetry: Pick<Telemetry, 'info' | 'warn'>;
  readonly now?: () => number;
  readonly times?: KeyTimes;
};

const tokenBytesMax = 8192;
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
/** Plain ones, and access tokens by RFC 9068; some issuers send none. Compared in lower case. */
const typesAllowed: readonly unknown[] = [undefined, 'jwt', 'at+jwt', 'application/at+jwt'];
/** For `nbf`, between the issuer's clock and ours. A token's expiry has no leeway, since sockets check it, too. */
const leewaySeconds = 30;

export const makeOidcIssuer = ({
  now = Date.now,
  times = keyTimes,
  ...options
}: OidcOptions): IdentityIssuer => {
  const { issuer, audience, telemetry } = options;
  const keys = makeKeyCache({
    fetchKeys: makeKeyFetcher(issuer),
    now,
    times,
    onFailure: (error) => telemetry.warn('the OIDC issuer did not give its keys', { error }),
  });
  return {
    verify: async (token) => {
      if (Buffer.byteLength(token) > tokenBytesMax) return undefined;
      try {
        const claims = await verified(token, keys, { issuer, audience, now: now() });
        return identityOf(claims, options, now());
      } catch (error) {
        if (!(error instanceof errors.JOSEError)) throw error;
        const claim = 'claim' in error ? { claim: error.claim } : {};
        telemetry.info('a JWT was refused', { reason: error.code, ...claim });
        return undefined;
      }
    },
  };
};

const verified = async (
  token: string,
  keys: JWTVerifyGetKey,
  { issuer, audience, now }: { readonly issuer: string; readonly audience: string; readonly now: number },
): Promise<JWTPayload> => {
  const { payload, protectedHeader } = await jwtVerify(token, keys, {
    issuer,
    audience,
    algorithms,
    requiredClaims: ['sub', 'exp'],
    clockTolerance: leewaySeconds,
    currentDate: new Date(now),
  });
  if (typesAllowed.includes(protectedHeader.typ?.toLowerCase())) return payload;
  throw new errors.JWTClaimValidationFailed('another type of token', payload, 'typ', 'check_failed');
};

const identityOf = (
  claims: JWTPayload,
  { issuer, scopeClaim }: Pick<OidcOptions, 'issuer' | 'scopeClaim'>,
  now: number,
): Identity | undefined => {
  const { sub: subject = '', exp = 0 } = claims;
  const expiresAt = exp * 1000;
  if (subject === '' || expiresAt <= now) return undefined;
  const scopeValue = Object.hasOwn(claims, scopeClaim) ? claims[scopeClaim] : undefined;
  const name = nameIn(claims);
  return { issuer, subject, expiresAt, scopeValue, ...(name === undefined ? {} : { name }) };
};

/** Claims that name a person (OpenID Connect Core 1.0, 5.1), the most recognisable first. */
const nameClaims = ['email', 'preferred_username', 'name'] as const;
const nameCharactersMax = 128;

export const nameIn = (claims: Readonly<Record<string, unknown>>): string | undefined =>
  nameClaims
    .map((claim) => claims[claim])
    .find((value): value is string => typeof value === 'string' && value !== '')
    ?.slice(0, nameCharactersMax)
    .toWellFormed();
