/** Who asks: the owner whose resources its credentials open, and the scope that says what it may do with them. */
import type { OwnerId, ProjectId } from './ids.ts';

export type Scope = 'admin' | 'admin:ro' | `project:${string}` | `project:${string}:ro`;

export type Principal = {
  readonly owner: OwnerId;
  readonly scope: Scope;
  /** SHA-256 of the token, in hexadecimal: how every request asks whether it still holds. */
  readonly tokenHash: string;
  /** Known by an OIDC issuer, not by a token of ours: what others made in the same project stays theirs. */
  readonly isPerson?: true;
  /** Epoch milliseconds: until when a person's sign-in holds; a token of ours is asked for instead. */
  readonly expiresAt?: number;
  /** The token's id, by which it is listed; absent for a person, and for the token that the deployment began with. */
  readonly tokenId?: string;
  /** The token's name, or the person's as the issuer says it: shown beside what they decide, trusted for nothing. */
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

/** A principal as it is named in logs, audit rows and grants: never by what would open anything. */
export const deciderOf = ({ isPerson, tokenHash, tokenId, name }: Principal): Decider => ({
  kind: isPerson ? 'person' : 'token',
  id: tokenId ?? tokenHash.slice(0, hashCharacters),
  ...(name === undefined ? {} : { name }),
});

/** The deployment's own owner: of everything an admin token makes. */
export const deploymentOwner = 'deployment' as OwnerId;

/** What acts for a project without anybody's token. */
export const projectPrincipal = (project: ProjectId): Principal => ({
  owner: project as string as OwnerId,
  scope: `project:${project}`,
  tokenHash: '',
});

/** The project of everything that names none. */
export const defaultProject = '00000000-0000-4000-8000-000000000000' as ProjectId;
