/** Access: the tokens, the issuer of people's identities, the limits of requests and frames, and the audit log. */

import type { AuditRow } from '../domain/audit.ts';
import type { Taken } from '../domain/frame-rate.ts';
import type { ProjectId } from '../domain/ids.ts';
import type { Identity, PersonRules } from '../domain/person.ts';
import type { AccessToken } from '../domain/principal.ts';

/** Access tokens by the hash of their text; the text itself is never stored. */
export interface TokenStore {
  /** False when it is for a project that is deleted. */
  put(token: AccessToken): Promise<boolean>;
  get(hash: string): Promise<AccessToken | undefined>;
  /** Newest first, removed ones too until they are forgotten. `after` is the previous page's `next`. */
  list(page: {
    readonly after?: string;
    readonly itemsMax: number;
  }): Promise<{ readonly tokens: readonly AccessToken[]; readonly next?: string }>;
  /** The removed token, which grants nothing from then on; the same again until it is forgotten. Undefined when there is none. */
  remove(id: string): Promise<AccessToken | undefined>;
  /** Deletes the rest of a removed token: its id is unknown from then on. */
  forget(id: string): Promise<void>;
}

/** Sign-ins of browsers: found by the hash of their cookie like tokens, and together by their person. */
export interface SignInStore {
  put(signIn: AccessToken & { readonly person: string }): Promise<void>;
  /** The sign-ins of a person. One of the last seconds may be missing. */
  ofPerson(person: string): Promise<readonly AccessToken[]>;
  remove(hash: string): Promise<void>;
}

/** The secrets of one sign-in, which the browser keeps until it comes back from the issuer. */
export type SignInSecrets = {
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE (RFC 7636). */
  readonly verifier: string;
};

/** The platform as a client of the OIDC issuer: people sign in with their browser. */
export interface LoginClient {
  /** The issuer's page for a new sign-in. */
  begin(redirectUri: string): Promise<{ readonly url: string; readonly secrets: SignInSecrets }>;
  /**
   * The person whom the issuer names; `expiresAt` is that of its statement. Undefined when it names none: the code, the
   * state or the nonce is not of this sign-in. Throws `issuer_unavailable` when it does not answer.
   */
  finish(answer: {
    readonly callbackUrl: string;
    readonly secrets: SignInSecrets;
  }): Promise<Identity | undefined>;
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
  /** False when the bucket does not hold so many requests (1): none is taken then. */
  take(key: string, now: number, requests?: number): Promise<boolean>;
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
  /** The oldest first, of a time: from its first moment, before its last. `next`: there may be more. */
  read(page: {
    readonly from: number;
    readonly through: number;
    readonly after?: string | undefined;
    readonly itemsMax: number;
  }): Promise<{
    readonly rows: readonly { readonly id: string; readonly row: AuditRow }[];
    readonly next?: string;
  }>;
  /** The newest first. A page that the filter left short still has a `next`. */
  list(page: {
    readonly now: number;
    readonly project?: ProjectId | undefined;
    readonly after?: string | undefined;
    readonly itemsMax: number;
  }): Promise<{ readonly rows: readonly AuditRow[]; readonly next?: string }>;
}
