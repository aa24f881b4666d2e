/** The arguments and results of `session approve`, `cancel`, `end` and `cleanup`. */
import * as z from 'zod';
import { cleanupHoursMax, clientIdCharactersMax, reasonCharactersMax } from '#shared/domain/limits.ts';
import { prefixCharactersMax } from '#shared/domain/turn/grant.ts';
import { givenId } from '../../given-id.ts';
import { closed, flag, projectId, text } from '../tool-fields.ts';
import { sessionId } from './fields.ts';

const reasonError = `a text of at most ${reasonCharactersMax} characters`;

export const doneResult = z.object({
  session_id: z.string().describe('The session that was asked for.'),
  status: z.string().describe('What it is at now.'),
  message: z.string().describe('The same for a person.'),
});

export const approveArguments = closed({
  session_id: sessionId,
  call_id: text(clientIdCharactersMax * 2).describe('The call that waits.'),
  approved: flag.describe('Whether it may run.'),
  digest: text(clientIdCharactersMax)
    .optional()
    .describe('The digest of the call that you saw: another one is a conflict.'),
  turn_id: givenId(text(clientIdCharactersMax)).optional().describe('The turn of the call that you saw.'),
  reason: z
    .string({ error: reasonError })
    .max(reasonCharactersMax, { error: reasonError })
    .optional()
    .describe('Why it is rejected: the model is told.'),
  args: z
    .record(z.string(), z.unknown(), { error: 'an object of arguments' })
    .optional()
    .describe('Run the call with these arguments instead.'),
  remember: z
    .union(
      [
        flag,
        z.literal('session'),
        z.strictObject({ prefix: text(prefixCharactersMax).describe('Words that a command begins with.') }),
      ],
      {
        error: 'true, session or {"prefix": "words"}',
      },
    )
    .optional()
    .describe(
      'session: later calls of the tool need no approval; a prefix: later commands that begin with it.',
    ),
});

export const cleanupArguments = closed({
  project_id: projectId.optional().describe('Only sessions of it; absent: all that action list shows.'),
  max_age_hours: z
    .number({ error: 'a number of hours' })
    .min(0, { error: `a number of hours from 0 to ${cleanupHoursMax}` })
    .max(cleanupHoursMax, { error: `a number of hours from 0 to ${cleanupHoursMax}` })
    .default(24)
    .describe('Sessions that ended longer ago are removed.'),
});

export const cleanupResult = z.object({
  removed: z.int().describe('How many were removed.'),
  has_more: z.boolean().describe('Ask again: some were left.'),
  message: z.string().describe('The same for a person.'),
});
