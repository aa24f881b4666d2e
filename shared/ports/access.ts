/** Access: the tokens, the issuer of people's identities, the limits of requests and frames, and the audit log. */

import type { AuditRow } from '../domain/audit.ts';
import type { Taken } from '../domain/frame-rate.ts';
import type { ProjectId } from '../domain/ids.ts';
import type { Identity, PersonRules } from '../domain/person.ts';
import type { AccessToken } from '../domain/principal.ts';

/** Access tokens by the hash of their text; the text itself is never stored. */
export interface TokenStore {
  put(token: AccessToken): Promise<void>;
  get(hash: string): Promise<AccessToken | undefined>;
  /** Newest first. `after` is the previous page's `next`. */
  list(page: {
    readonly after?: string;
    readonly itemsMax: number;
  }): Promise<{ readonly tokens: readonly AccessToken[]; readonly next?: string }>;
  /** The removed token, which grants nothing from then on; undefined when there was none. */
  remove(id: string): Promise<AccessToken | undefined>;
}

/** An OIDC issuer beside our own tokens: verifies a JWT and returns its identity. */
export interface IdentityIssuer {
  /**
   * Undefined for every invalid token: forged, expired, or for another audience. Throws `issuer_unavailable` when
   * the issuer's keys cannot be fetched, so that no client discards a good token.
   */
  verify(token: string): Promise<Identity | undefined>;
}

/** An issuer, and the rules for its people. */
export type SignIn = { readonly issuer: IdentityIssuer; readonly rules: PersonRules };

/** Buckets that refill steadily: for the requests of a token, and for the frames of a connection. */
export interface RateLimiter {
  /** False when the bucket is empty. */
  take(key: string, now: number): Promise<boolean>;
}

/** A bucket of frames that all functions share. */
export interface FrameBucket {
  /**
   * Takes milliseconds of refilling from a bucket that takes `bucketMs` to fill, or nothing; returns when it is
   * full again.
   */
  take(
    key: string,
    request: { readonly takenMs: number; readonly bucketMs: number; readonly now: number },
  ): Promise<Taken>;
}

/** The audit log: rows are appended and read, never changed. */
export interface AuditLog {
  append(row: AuditRow): Promise<void>;
  /** The newest first. A page that the filter left short still has a `next`. */
  list(page: {
    readonly now: number;
    readonly project?: ProjectId | undefined;
    readonly after?: string | undefined;
    readonly itemsMax: number;
  }): Promise<{ readonly rows: readonly AuditRow[]; readonly next?: string }>;
}
