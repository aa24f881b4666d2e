/** Access records as the table holds them: a principal, and the tokens, tickets, previews and links that stand for one. */
import * as z from 'zod';
import { linkMethods } from '#shared/domain/file-link.ts';
import type { OwnerId, SessionId } from '#shared/domain/ids.ts';
import type { Scope } from '#shared/domain/principal.ts';
import { onFirstUse } from '../on-first-use.ts';
import { epochMs, id } from './fields.ts';

const scope = z.custom<Scope>(
  (value) => typeof value === 'string' && /^(admin|project:[0-9a-f-]{36})(:ro)?$/.test(value),
);

export const principalRecord = onFirstUse(() =>
  z.object({
    owner: id<OwnerId>(),
    scope,
    tokenHash: z.string().min(1),
    isPerson: z.literal(true).exactOptional(),
    expiresAt: epochMs.exactOptional(),
    signIn: z.string().exactOptional(),
    client: z.string().exactOptional(),
    tokenId: z.string().exactOptional(),
    name: z.string().exactOptional(),
  }),
);

export const tokenRecord = onFirstUse(() =>
  z.object({
    id: z.string(),
    hash: z.string(),
    name: z.string(),
    scope,
    masked: z.string(),
    createdAt: epochMs,
    expiresAt: epochMs.exactOptional(),
    person: z.string().exactOptional(),
    client: z.object({ family: z.string(), firstToken: z.string().exactOptional() }).exactOptional(),
  }),
);

const clientName = onFirstUse(() => z.object({ id: z.string(), name: z.string() }));

export const oauthClientRecord = onFirstUse(() =>
  z.object({
    id: z.string(),
    name: z.string(),
    redirectUris: z.array(z.string()),
    createdAt: epochMs,
    expiresAt: epochMs,
  }),
);

const consent = onFirstUse(() =>
  z.object({
    holder: z.string(),
    scope,
    person: z.string().exactOptional(),
    token: z.string().exactOptional(),
    by: z.string().exactOptional(),
    until: epochMs.exactOptional(),
  }),
);

export const codeRecord = onFirstUse(() =>
  z.object({
    client: clientName(),
    redirectUri: z.string(),
    challenge: z.string(),
    consent: consent(),
    credential: z.string().exactOptional(),
    grantId: z.string(),
    family: z.string(),
    expiresAt: epochMs,
    usedAt: epochMs.exactOptional(),
  }),
);

export const grantRecord = onFirstUse(() =>
  z.object({
    id: z.string(),
    family: z.string(),
    client: clientName(),
    redirectUri: z.string(),
    consent: consent(),
    refreshHash: z.string(),
    accessHash: z.string(),
    createdAt: epochMs,
    refreshedAt: epochMs,
    expiresAt: epochMs,
  }),
);

export const ticketRecord = onFirstUse(() => z.object({ principal: principalRecord(), expiresAt: epochMs }));

export const fileLinkRecord = onFirstUse(() =>
  z.object({
    principal: principalRecord(),
    sessionId: id<SessionId>(),
    path: z.string(),
    method: z.enum(linkMethods),
    expiresAt: epochMs,
    usedAt: epochMs.exactOptional(),
  }),
);

/** A browser's access to one preview port. */
export const previewRecord = onFirstUse(() =>
  z.object({
    principal: principalRecord(),
    sessionId: id<SessionId>(),
    port: z.number().int(),
    expiresAt: epochMs,
  }),
);
