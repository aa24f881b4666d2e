/**
 * The bearer that every request must carry, known only by its SHA-256.
 *
 * The check of a token takes as long for a wrong one as for a right one. A sandbox of the pool is claimed once it has an
 * owner (`POST /claim`): from then on only the new bearer is valid.
 */
import { createHash, timingSafeEqual } from 'node:crypto';

export type Bearer = {
  readonly isAllowed: (authorization: string | undefined) => boolean;
  /** False when a concurrent claim has replaced the caller's token: of two claims one wins. */
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
