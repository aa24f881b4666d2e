/**
 * The issuer's keys, cached across invocations, and fetched again when a token names a new one.
 *
 * A forged key id is new each time: the issuer is asked at most once per `cooldownMs`, whatever clients send, and
 * once per `retryMs` while it fails. While it fails, its last keys hold for `staleMs`; a key it withdraws is
 * dropped after `freshMs`. The cache in `jose` asks a failing issuer at every request and fails with it.
 */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { AppError } from '#shared/errors.ts';

export type KeyTimes = {
  readonly freshMs: number;
  readonly staleMs: number;
  readonly cooldownMs: number;
  readonly retryMs: number;
};

export const keyTimes: KeyTimes = {
  freshMs: 600_000,
  staleMs: 3_600_000,
  cooldownMs: 30_000,
  retryMs: 5000,
};

export type KeyCacheOptions = {
  readonly fetchKeys: () => Promise<JSONWebKeySet>;
  readonly now: () => number;
  readonly times: KeyTimes;
  /** For the log: the client learns only that the issuer is unavailable. */
  readonly onFailure: (error: unknown) => void;
};

type Kept = { readonly find: JWTVerifyGetKey; readonly at: number };

export const makeKeyCache = ({ fetchKeys, now, times, onFailure }: KeyCacheOptions): JWTVerifyGetKey => {
  let kept: Kept | undefined;
  let failure: { readonly cause: unknown } | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;

  const ask = async (): Promise<void> => {
    askedAt = now();
    try {
      kept = { find: createLocalJWKSet(await fetchKeys()), at: now() };
      failure = undefined;
    } catch (cause) {
      failure = { cause };
      onFailure(cause);
    }
  };
  const askWhenDue = async (): Promise<void> => {
    if (asking === undefined && now() - askedAt < (failure ? times.retryMs : times.cooldownMs)) return;
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    await asking;
  };
  const current = (): Kept => {
    if (kept !== undefined && now() - kept.at < times.staleMs) return kept;
    throw issuerUnavailable(failure?.cause);
  };

  return async (header, token) => {
    if (kept === undefined || now() - kept.at >= times.freshMs) await askWhenDue();
    try {
      return await current().find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await askWhenDue();
      // It may be a new key, which cannot be known while the issuer is unavailable.
      if (failure !== undefined) throw issuerUnavailable(failure.cause);
      return current().find(header, token);
    }
  };
};

const issuerUnavailable = (cause: unknown): AppError =>
  new AppError('issuer_unavailable', 'the sign-in service did not answer', {
    cause,
    suggestions: ['Try again in a moment.'],
    recoveryActions: ['wait_and_retry'],
  });
