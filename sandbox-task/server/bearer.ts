/**
 * The bearer check: who knows the token may call, and how long the answer takes tells nothing about it.
 *
 * A sandbox that waited in the pool is claimed once it has an owner: the old token opens nothing any more.
 */
import { createHash, timingSafeEqual } from 'node:crypto';

export type Bearer = {
  readonly isAllowed: (authorization: string | undefined) => boolean;
  /** False when the caller's own token has been replaced meanwhile: of two claims one wins. */
  readonly claim: (authorization: string | undefined, sha256Hex: string) => boolean;
};

export const createBearer = (sha256Hex: string): Bearer => {
  let expected = Buffer.from(sha256Hex, 'hex');
  const isAllowed = (authorization: string | undefined): boolean => {
    const token = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
    return token !== undefined && timingSafeEqual(createHash('sha256').update(token).digest(), expected);
  };
  return {
    isAllowed,
    claim(authorization, next) {
      if (!isAllowed(authorization)) return false;
      expected = Buffer.from(next, 'hex');
      return true;
    },
  };
};
