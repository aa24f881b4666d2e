/**
 * The caller of a request: the owner whose resources its credentials open, and the scope that says what it may do
 * with them. An access token stands for one; the token itself is never stored.
 */
import { canonicalUuid, isUuid, type OwnerId, type ProjectId } from './ids.ts';

export type Scope = 'admin' | 'admin:ro' | `project:${string}` | `project:${string}:ro`;

export type Principal = {
  readonly owner: OwnerId;
  readonly scope: Scope;
  /** SHA-256 of the token, in hexadecimal, by which every request checks that the token still holds. */
  readonly tokenHash: string;
  /** Identified by an OIDC issuer, not by a token of ours: what others made in the same project stays theirs. */
  readonly isPerson?: true;
  /** The end of a person's sign-in, in epoch milliseconds; a token of ours is looked up instead. */
  readonly expiresAt?: number;
  /** The hash of the cookie of a browser's sign-in, or of a client's access token: looked up as a token is, so that its end is seen. */
  readonly signIn?: string;
  /** Of a client that a person connected, the key of its grant. */
  readonly client?: string;
  /** The token's id in listings; absent for a person, and for the deployment's first token. */
  readonly tokenId?: string;
  /** The token's name, or the person's by the issuer: shown beside what they decide, trusted for nothing. */
  readonly name?: string;
};

export const deciderKinds = ['token', 'person', 'grant', 'policy'] as const;

/** The decider of a call. A policy's id is its mode. */
export type Decider = {
  readonly kind: (typeof deciderKinds)[number];
  readonly id: string;
  readonly name?: string;
};

/** Enough of a hash to tell credentials apart. */
const hashCharacters = 12;

/** A principal as it is named in logs, audit rows and grants: never by a credential. */
export const deciderOf = ({ isPerson, tokenHash, tokenId, name }: Principal): Decider => ({
  kind: isPerson ? 'person' : 'token',
  id: tokenId ?? tokenHash.slice(0, hashCharacters),
  ...(name === undefined ? {} : { name }),
});

/** The owner of everything an admin token makes: the deployment. */
export const deploymentOwner = 'deployment' as OwnerId;

/** The principal that acts for a project without a token. */
export const projectPrincipal = (project: ProjectId): Principal => ({
  owner: project as string as OwnerId,
  scope: `project:${project}`,
  tokenHash: '',
});

/** The project of everything that names none. */
export const defaultProject = '00000000-0000-4000-8000-000000000000' as ProjectId;

/** An access token as it is stored. */
export type AccessToken = {
  /** The UUID by which it is revoked. */
  readonly id: string;
  /** SHA-256 of the token, in hexadecimal. */
  readonly hash: string;
  readonly name: string;
  readonly scope: Scope;
  readonly masked: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly expiresAt?: number;
  /** The hash of a person: a browser's sign-in, which no bearer stands for, or a client that the person connected. */
  readonly person?: string;
  /** Of a connected client: good at `/mcp` alone. `firstToken`: the deployment's first token when a consent was given with it. */
  readonly client?: { readonly family: string; readonly firstToken?: string };
};

/** The hash under which the table has a principal's credential; undefined for one without a record. */
export const recordedAs = (
  { isPerson, signIn, tokenHash }: Principal,
  adminTokenHash: string,
): string | undefined => {
  if (isPerson || signIn !== undefined) return signIn;
  return tokenHash === adminTokenHash ? undefined : tokenHash;
};

/** Its rate and its calls are counted by this: each client of a person, as each client of a token, has its own. */
export const countedAs = ({ client, tokenHash }: Pick<Principal, 'client' | 'tokenHash'>): string =>
  client ?? tokenHash;

/** The hash of the record with which a principal's sockets end; undefined for one without: a JWT, and the deployment's first token. */
export const openerOf = ({ signIn, tokenHash, tokenId }: Principal): string | undefined =>
  signIn ?? (tokenId === undefined ? undefined : tokenHash);

export const decodeScope = (text: string): Scope | undefined => {
  if (text === 'admin' || text === 'admin:ro') return text;
  const [, given = '', ro = ''] = /^project:([^:]+)(:ro)?$/.exec(text) ?? [];
  const id = canonicalUuid(given);
  return isUuid(id) ? (`project:${id}${ro}` as Scope) : undefined;
};

/** The owner whose resources a scope opens and makes. */
export const ownerOf = (scope: Scope): OwnerId =>
  scope.startsWith('project:') ? (scope.split(':')[1] as OwnerId) : deploymentOwner;

/** Enough to recognise a token, too little to use it. */
export const maskToken = (token: string): string =>
  token.length >= 13 ? `${token.slice(0, 8)}...${token.slice(-4)}` : '***';

export const isExpired = ({ expiresAt }: Pick<AccessToken, 'expiresAt'>, now: number): boolean =>
  expiresAt !== undefined && expiresAt <= now;
