/** Access records as the table holds them: a principal, and the tokens, tickets and previews that stand for one. */
import * as z from 'zod';
import type { OwnerId, SessionId } from '#shared/domain/ids.ts';
import type { Scope } from '#shared/domain/principal.ts';
import { epochMs, id } from './fields.ts';

const scope = z.custom<Scope>(
  (value) => typeof value === 'string' && /^(admin|project:[0-9a-f-]{36})(:ro)?$/.test(value),
);

export const principalRecord = z.object({
  owner: id<OwnerId>(),
  scope,
  tokenHash: z.string().min(1),
  isPerson: z.literal(true).exactOptional(),
  expiresAt: epochMs.exactOptional(),
  tokenId: z.string().exactOptional(),
  name: z.string().exactOptional(),
});

export const tokenRecord = z.object({
  id: z.string(),
  hash: z.string(),
  name: z.string(),
  scope,
  masked: z.string(),
  createdAt: epochMs,
  expiresAt: epochMs.exactOptional(),
});

export const ticketRecord = z.object({ principal: principalRecord, expiresAt: epochMs });

/** A browser's access to one preview port. */
export const previewRecord = z.object({
  principal: principalRecord,
  sessionId: id<SessionId>(),
  port: z.number().int(),
  expiresAt: epochMs,
});
