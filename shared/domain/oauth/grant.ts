/**
 * Clients that people connect to `/mcp`: their registration, the code that a consent makes, and the grant that lives on it,
 * with one access token and one refresh token at a time.
 *
 * Everything ends by itself. A grant never outlives the credential of its person, and its access token is no credential but at
 * `/mcp`.
 */
import type { OwnerId } from '../ids.ts';
import { type AccessToken, ownerOf, type Principal, type Scope } from '../principal.ts';

/** A public client: it has no secret, only addresses to which its codes go. */
export type OAuthClient = {
  readonly id: string;
  /** As the client calls itself: shown, trusted for nothing. */
  readonly name: string;
  readonly redirectUris: readonly string[];
  /** Epoch milliseconds, here and below. */
  readonly createdAt: number;
  readonly expiresAt: number;
};

/** The person behind a grant, and the credential with which they consented. */
export type Consent = {
  /** All grants of one person, or of one token, are found by it. */
  readonly holder: string;
  readonly scope: Scope;
  /** The hash of a person whom an issuer names. */
  readonly person?: string;
  /** SHA-256 of the token of a caller who is no such person: the grant ends with it. */
  readonly token?: string;
  /** The name of the person or the token. */
  readonly by?: string;
  /** The end of that credential. */
  readonly until?: number;
};

export type AuthorizationCode = {
  readonly client: Pick<OAuthClient, 'id' | 'name'>;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly consent: Consent;
  /** The hash under which the table has the token or the sign-in of the consent: the code ends with it. Absent: it has no record. */
  readonly credential?: string;
  /** The id of the grant that it opens. */
  readonly grantId: string;
  /** The key of that grant, by which a replay ends it. */
  readonly family: string;
  readonly expiresAt: number;
  readonly usedAt?: number;
};

export type Grant = {
  readonly id: string;
  /** SHA-256 of the first part of its refresh tokens. */
  readonly family: string;
  readonly client: Pick<OAuthClient, 'id' | 'name'>;
  readonly redirectUri: string;
  readonly consent: Consent;
  /** SHA-256 of the one refresh token that is good. */
  readonly refreshHash: string;
  /** SHA-256 of the one access token that is good. */
  readonly accessHash: string;
  readonly createdAt: number;
  readonly refreshedAt: number;
  readonly expiresAt: number;
};

/** The seconds of a code, of an access token, of a grant without use, and of a grant. */
export const codeSecondsMax = 60;
export const accessSecondsMax = 900;
export const idleGrantSecondsMax = 30 * 86_400;
export const grantSecondsMax = 90 * 86_400;
/** A registration without a consent is forgotten after this time. */
export const unusedClientSecondsMax = 86_400;
/** The clients that may register in an hour: from one address, and altogether. */
export const addressRegistrationsMax = 20;
export const registrationsMax = 200;
/** The grants of one person. */
export const grantsPerHolderMax = 50;
export const redirectUrisMax = 10;

export const holderOfPerson = (person: string): string => `person-${person}`;
export const holderOfToken = (id: string): string => `token-${id}`;
/** The deployment's first token has no id. */
const firstHolder = holderOfToken('first');

export const holderOf = ({ isPerson, tokenHash, tokenId }: Principal): string => {
  if (isPerson) return holderOfPerson(tokenHash);
  return tokenId === undefined ? firstHolder : holderOfToken(tokenId);
};

/** The end of a token issued now, in epoch milliseconds. */
export const accessEnd = ({ until }: Consent, now: number): number =>
  Math.min(now + accessSecondsMax * 1000, until ?? Number.POSITIVE_INFINITY);

/** The end of a grant that was last used now. */
export const grantEnd = ({ until }: Consent, createdAt: number, now: number): number =>
  Math.min(
    now + idleGrantSecondsMax * 1000,
    createdAt + grantSecondsMax * 1000,
    until ?? Number.POSITIVE_INFINITY,
  );

const nameCharactersMax = 200;

/** The access token of a grant, where a token of its hash would be. */
export const accessTokenOf = (
  { id, family, client, consent }: Pick<Grant, 'id' | 'family' | 'client' | 'consent'>,
  { hash, now }: { readonly hash: string; readonly now: number },
): AccessToken => ({
  id,
  hash,
  name: [client.name, consent.by]
    .filter((part) => part)
    .join(' for ')
    .slice(0, nameCharactersMax),
  scope: consent.scope,
  masked: '',
  createdAt: now,
  expiresAt: accessEnd(consent, now),
  ...(consent.person === undefined ? {} : { person: consent.person }),
  client: {
    family,
    ...(consent.token === undefined || consent.holder !== firstHolder ? {} : { firstToken: consent.token }),
  },
});

/** The key of the grant behind a client of the holder of a token; undefined for any other principal. */
export const familyOfClient = ({ isPerson, signIn, tokenHash }: Principal): string | undefined =>
  isPerson || signIn === undefined ? undefined : tokenHash;

/**
 * The principal of a client. Its rate and its calls are those of the grant (`countedAs`), whichever token it has just now; `signIn` is
 * that token, so that the end of the grant is seen.
 */
export const clientPrincipal = ({
  id,
  hash,
  name,
  scope,
  person,
  expiresAt,
  client,
}: AccessToken): Principal => ({
  owner: person === undefined ? ownerOf(scope) : (`person-${person}` as OwnerId),
  scope,
  tokenHash: person ?? client?.family ?? hash,
  signIn: hash,
  name,
  ...(expiresAt === undefined ? {} : { expiresAt }),
  ...(person === undefined ? { tokenId: id } : { isPerson: true as const }),
  ...(person === undefined || client === undefined ? {} : { client: client.family }),
});
