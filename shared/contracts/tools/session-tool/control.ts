/** The arguments and results of `session approve`, `cancel`, `end` and `cleanup`. */
import * as z from 'zod';
import { cleanupHoursMax, clientIdCharactersMax } from '#shared/domain/limits.ts';
import { closed, flag, projectId, text } from '../tool-fields.ts';
import { sessionId } from './fields.ts';

export const doneResult = z.object({
  session_id: z.string().describe('The session that was asked for.'),
  status: z.string().describe('What it is at now.'),
  message: z.string().describe('The same for a person.'),
});

export const approveArguments = closed({
  session_id: sessionId,
  call_id: text(clientIdCharactersMax * 2).describe('The call that waits.'),
  approved: flag.describe('Whether it may run.'),
  remember: flag.default(false).describe('Calls of the same tool need no approval again in this session.'),
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
