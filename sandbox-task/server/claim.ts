/** `POST /claim`: from now on only the bearer with this hash opens the server, not the one that said so. */
import type { IncomingMessage } from 'node:http';
import * as z from 'zod';
import type { Bearer } from './bearer.ts';
import { Refusal } from './refusal.ts';
import { readBody } from './request-body.ts';

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
