/** The arguments and results of the tool `token`. */
import * as z from 'zod';
import { clientIdCharactersMax, tokenSecondsMax } from '#shared/domain/limits.ts';
import { plainName } from '../plain-name.ts';
import { after, closed, id, moment, next, text } from './tool-fields.ts';

export const createTokenArguments = closed({
  name: plainName(text(clientIdCharactersMax)).describe('What the token is for.'),
  scope: text(64).describe('admin, admin:ro, project:<uuid> or project:<uuid>:ro.'),
  expires_in_seconds: z
    .int({ error: `a whole number from 1 to ${tokenSecondsMax}` })
    .min(1, { error: `a whole number from 1 to ${tokenSecondsMax}` })
    .max(tokenSecondsMax, { error: `a whole number from 1 to ${tokenSecondsMax}` })
    .optional()
    .describe('Seconds until it no longer holds; absent: it holds until it is revoked.'),
});

export const createTokenResult = z.object({
  id: z.string().describe('Its id.'),
  token: z.string().describe('The token: shown now and never again.'),
  scope: z.string().describe('What it may do.'),
});

export const listTokensArguments = closed({ after: after(256) });

export const tokenResult = z.object({
  id: z.string().describe('Its id.'),
  name: z.string().describe('What it is for.'),
  scope: z.string().describe('What it may do.'),
  token: z.string().describe('Masked.'),
  created_at: moment,
  expires_at: moment.optional(),
});

export const listTokensResult = z.object({
  tokens: z.array(tokenResult).describe('Newest first.'),
  next,
});

export const revokeTokenArguments = closed({ token_id: id.describe('The id of a token.') });
