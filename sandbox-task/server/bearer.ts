/** The bearer check: who knows the token may call, and how long the answer takes tells nothing about it. */
import { createHash, timingSafeEqual } from 'node:crypto';

export const createBearerCheck = (sha256Hex: string): ((authorization: string | undefined) => boolean) => {
  const expected = Buffer.from(sha256Hex, 'hex');
  return (authorization) => {
    const token = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
    return token !== undefined && timingSafeEqual(createHash('sha256').update(token).digest(), expected);
  };
};
