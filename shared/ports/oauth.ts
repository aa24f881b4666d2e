/** Clients that people connect to `/mcp`: their registrations, codes and grants, and the protocol that hands out tokens. */
import type { AuthorizationCode, Grant, OAuthClient } from '../domain/oauth/grant.ts';
import type { AccessToken } from '../domain/principal.ts';

export interface ClientStore {
  /** False: too many have registered from this address, or altogether, in this hour. */
  register(client: OAuthClient, address: string): Promise<boolean>;
  get(id: string): Promise<OAuthClient | undefined>;
  /** Keeps a client as long as its grant. */
  keep(id: string, expiresAt: number): Promise<void>;
}

export interface CodeStore {
  put(hash: string, code: AuthorizationCode): Promise<void>;
  get(hash: string): Promise<AuthorizationCode | undefined>;
  /** True once. Every later try marks the code, so that nothing opens by it any more. */
  use(hash: string, now: number): Promise<boolean>;
}

/** A new pair of tokens: the record of the access token, and the hash of the refresh token. */
export type NewTokens = { readonly access: AccessToken; readonly refreshHash: string };

/** `credential`: the record with which the code ends. */
type UsedCode = { readonly hash: string } & Pick<AuthorizationCode, 'credential'>;

/** A consent that becomes a code: with its challenge, and the record with which it ends. */
export type Consented = Pick<AuthorizationCode, 'consent' | 'challenge' | 'credential'>;

export interface GrantStore {
  /** False when the code has been used a second time, its credential has ended, or the grant is there already. */
  open(grant: Grant, access: AccessToken, code: UsedCode): Promise<boolean>;
  get(family: string): Promise<Grant | undefined>;
  /** In one step the new pair is good and the old one is not. False: the old one was not good any more. */
  rotate(grant: Grant, tokens: NewTokens, times: Pick<Grant, 'refreshedAt' | 'expiresAt'>): Promise<boolean>;
  /** Ends it with its tokens; undefined when there was none. */
  end(family: string): Promise<Grant | undefined>;
  /** The newest first. One of the last second may be missing. */
  ofHolder(holder: string): Promise<readonly Grant[]>;
}

/** The fields of a request as the client sent them. */
export type OAuthFields = Readonly<Record<string, string>>;

/** An answer in the form of the protocol. */
export type OAuthAnswer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

/** The outcome of a consent: a code, or the reason why there is none. */
export type Authorized =
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'refused'; readonly problem: string };

/** The authorization server's side of OAuth 2.1. */
export interface OAuthProtocol {
  /** The code of a request to which a person consented. */
  authorize(fields: OAuthFields, consented: Consented): Promise<Authorized>;
  /** Codes and refresh tokens become access tokens. */
  token(fields: OAuthFields): Promise<OAuthAnswer>;
  /** The family of a refresh token; undefined for another text. */
  familyOf(refreshToken: string): string | undefined;
}
