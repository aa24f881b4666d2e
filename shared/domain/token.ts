/** Access tokens: what is stored of one, how it is shown, and until when it holds. The token itself is never stored. */
import { canonicalUuid, isUuid, type OwnerId } from './ids.ts';
import { deploymentOwner, type Scope } from './principal.ts';

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
};

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
