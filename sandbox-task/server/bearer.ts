/**
 * The bearer of the server: the check, which takes as long for a wrong token as for a right one, and `POST /claim`.
 *
 * A sandbox of the pool is claimed once it has an owner: from then on only the new bearer is valid.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import * as z from 'zod';
import { readBody } from './http-messages.ts';
import { Refusal } from './refusal.ts';

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

const bodyBytesMax = 4096;
const claim = z.strictObject({ bearerSha256: z.string().regex(/^[0-9a-f]{64}$/) });

export const receiveClaim = async (bearer: Bearer, request: IncomingMessage): Promise<void> => {
  const { bearerSha256 } = parse(await readBody(request, bodyBytesMax));
  if (!bearer.claim(request.headers.authorization, bearerSha256)) {
    throw new Refusal('unauthenticated', 'the sandbox was claimed by another caller');
  }
};

const parse = (body: Buffer): z.output<typeof claim> => {
  try {
    return claim.parse(JSON.parse(body.toString()));
  } catch (cause) {
    throw new Refusal('invalid_request', 'the body must be {"bearerSha256": "<64 hex>"}', { cause });
  }
};
