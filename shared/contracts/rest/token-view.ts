/** A token as it is listed: never its text, never its hash. The text of a new one is shown once, a ticket's too. */
import * as z from 'zod';
import type { AccessToken } from '#shared/domain/principal.ts';
import { iso } from '../time.ts';

const scope = z.string().describe('Scope: admin, admin:ro, project:<uuid> or project:<uuid>:ro.');

export const tokenAnswer = z
  .object({
    id: z.uuid(),
    name: z.string(),
    scope,
    token: z.string().describe('The token, masked.'),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().optional(),
  })
  .meta({ id: 'Token' });

export const tokensAnswer = z.object({ tokens: z.array(tokenAnswer), next: z.string().optional() });

export const newTokenAnswer = z.object({ id: z.uuid(), token: z.string(), scope, name: z.string() });

export const ticketAnswer = z.object({ ticket: z.string(), expiresInSeconds: z.number().int() });

export const tokenView = ({
  id,
  name,
  scope,
  masked,
  createdAt,
  expiresAt,
}: AccessToken): z.output<typeof tokenAnswer> => ({
  id,
  name,
  scope,
  token: masked,
  createdAt: iso(createdAt),
  ...(expiresAt === undefined ? {} : { expiresAt: iso(expiresAt) }),
});
