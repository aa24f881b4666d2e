/** The arguments and results of `session approve`, `cancel`, `retry`, `end` and `cleanup`. */
import * as z from 'zod';
import { cleanupHoursMax, clientIdCharactersMax, reasonCharactersMax } from '#shared/domain/limits.ts';
import { prefixCharactersMax } from '#shared/domain/turn/grant.ts';
import { givenId } from '../../fields.ts';
import { closed, flag, orJsonText, projectId, text } from '../tool-fields.ts';
import { sessionId } from './read.ts';

const reasonError = `a text of at most ${reasonCharactersMax} characters`;

export const doneResult = z.object({
  session_id: z.string().describe('Id of the session.'),
  status: z.string().describe('Status of the session.'),
  message: z.string().describe('Summary for a person.'),
});

export const approveArguments = closed({
  session_id: sessionId,
  call_id: text(clientIdCharactersMax * 2).describe('Id of the call that needs approval.'),
  approved: flag.describe('True: run the call. False: reject it.'),
  digest: text(clientIdCharactersMax)
    .optional()
    .describe('Digest of the call that was shown; a different call is a conflict.'),
  turn_id: givenId(text(clientIdCharactersMax)).optional().describe('Turn of the call that was shown.'),
  effect_digest: text(clientIdCharactersMax)
    .optional()
    .describe('Digest of the effect that was shown; required to approve a call with one.'),
  reason: z
    .string({ error: reasonError })
    .max(reasonCharactersMax, { error: reasonError })
    .optional()
    .describe('Reason for a rejection, passed to the model.'),
  args: orJsonText(z.record(z.string(), z.unknown(), { error: 'an object of arguments' }))
    .optional()
    .describe('Arguments that replace those of the call, as JSON.'),
  remember: z
    .union(
      [
        flag,
        z.literal('session'),
        z.strictObject({ prefix: text(prefixCharactersMax).describe('First words of a command.') }),
      ],
      {
        error: 'true, session or {"prefix": "words"}',
      },
    )
    .optional()
    .describe(
      'Later calls to approve: session for every call of the tool, a prefix for commands that begin with it.',
    ),
});

export const cleanupArguments = closed({
  project_id: projectId
    .optional()
    .describe('Id of the project whose sessions are deleted; absent: all that action list shows.'),
  max_age_hours: z
    .number({ error: 'a number of hours' })
    .min(0, { error: `a number of hours from 0 to ${cleanupHoursMax}` })
    .max(cleanupHoursMax, { error: `a number of hours from 0 to ${cleanupHoursMax}` })
    .default(24)
    .describe('Hours since the end of a session, after which it is deleted.'),
});

export const cleanupResult = z.object({
  removed: z.int().describe('Number of deleted sessions.'),
  has_more: z.boolean().describe('True: more sessions can be deleted; repeat the action.'),
  message: z.string().describe('Summary for a person.'),
});
