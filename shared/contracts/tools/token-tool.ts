/** The arguments and results of the tool `token`. */
import * as z from 'zod';
import { clientIdCharactersMax, tokenSecondsMax } from '#shared/domain/limits.ts';
import { plainName } from '../fields.ts';
import { after, closed, id, moment, next, text, wholeFrom } from './tool-fields.ts';

export const createTokenArguments = closed({
  name: plainName(text(clientIdCharactersMax)).describe('Name of the token.'),
  scope: text(64).describe('Scope: admin, admin:ro, project:<uuid> or project:<uuid>:ro.'),
  expires_in_seconds: wholeFrom(1, tokenSecondsMax)
    .optional()
    .describe('Seconds until the token expires; absent: it never expires.'),
});

export const createTokenResult = z.object({
  id: z.string().describe('Id of the token.'),
  token: z.string().describe('The token; it is shown only once.'),
  scope: z.string().describe('Scope of the token.'),
});

export const listTokensArguments = closed({ after: after(256) });

export const tokenResult = z.object({
  id: z.string().describe('Id of the token.'),
  name: z.string().describe('Name of the token.'),
  scope: z.string().describe('Scope of the token.'),
  token: z.string().describe('The token, masked.'),
  created_at: moment,
  expires_at: moment.optional(),
});

export const listTokensResult = z.object({
  tokens: z.array(tokenResult).describe('Tokens, newest first.'),
  next,
});

export const revokeTokenArguments = closed({ token_id: id.describe('Id of a token.') });
