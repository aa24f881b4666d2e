/** The arguments and results of `session get`, `list` and `events`. */
import * as z from 'zod';
import { clientIdCharactersMax, eventsPerSessionMax, pageItemsMax } from '#shared/domain/limits.ts';
import { sessionStatuses } from '#shared/domain/session.ts';
import { after, closed, flag, moment, next, oneOf, projectId, wholeFrom } from '../tool-fields.ts';
import { pendingApprovals, sessionId, usage } from './fields.ts';

export const sessionDetails = z.object({
  session_id: z.string().describe('Its id.'),
  kind: z.string().describe('agent or execution.'),
  title: z.string().optional().describe('The first words said in it.'),
  status: z.string().describe('What it is at.'),
  project_id: z.string().describe('Its project.'),
  workspace_id: z.string().describe('Where it works.'),
  flavor: z.string().describe('Its size.'),
  template: z.string().describe('Its language.'),
  provider: z.string().describe('Whose model it thinks with.'),
  model: z.string().describe('What it thinks with.'),
  approvals: z.string().describe('Which calls run without a human.'),
  depth: z.int().describe('How deep it is; 0: nobody started it.'),
  created_at: moment,
  last_active_at: moment,
  last_event_index: z.int().describe('The newest event; -1: there is none.'),
  usage: z.object(usage).describe('What its turns used.'),
  cost_usd: z.number().describe('What its model calls cost, by the price table.'),
});

export const getSessionResult = z.object({
  ...sessionDetails.shape,
  pending_approvals: pendingApprovals,
  turns: z
    .array(
      z.object({
        message_id: z.string().describe('The message it answers.'),
        request: z.string().describe('What was asked, in short.'),
        started_at: moment,
        finished: z.boolean().describe('Whether it has ended.'),
        ended_at: moment.optional(),
        stop_reason: z.string().optional().describe('Why it ended.'),
        output: z.string().optional().describe('What was answered, in short.'),
        usage: z.object(usage).optional().describe('What it used.'),
      }),
    )
    .describe('The newest, oldest first, as far as the log still has them.'),
});

export const listSessionsArguments = closed({
  project_id: projectId.optional(),
  status: oneOf(['active', ...sessionStatuses])
    .optional()
    .describe('active: none that has ended.'),
  limit: wholeFrom(1, pageItemsMax).default(pageItemsMax).describe('How many at most.'),
  after: after(clientIdCharactersMax * 4),
});

export const listSessionsResult = z.object({
  sessions: z.array(sessionDetails).describe('Newest first.'),
  next,
});

export const eventsArguments = closed({
  session_id: sessionId,
  since_index: wholeFrom(-1, Number.MAX_SAFE_INTEGER).default(-1).describe('Events after it; -1: all.'),
  max_events: wholeFrom(1, eventsPerSessionMax).default(eventsPerSessionMax).describe('How many at most.'),
  include_children: flag
    .default(false)
    .describe('With those of the sessions under it, by time; an event of theirs may come again.'),
});

export const eventsResult = z.object({
  session_id: z.string().describe('The session that was asked for.'),
  status: z.string().describe('What it is at.'),
  last_index: z.int().describe('Ask for what comes after it.'),
  events: z
    .array(
      z.object({
        index: z.int().describe('Its number in the log of its session.'),
        session_id: z.string().describe('Whose it is.'),
        type: z.string().describe('As of the frames of the WebSocket.'),
        at: moment,
        text: z.string().optional().describe('What was said.'),
        tool_name: z.string().optional().describe('The tool it is about.'),
        role: z.string().optional().describe('user or assistant.'),
        data: z.record(z.string(), z.unknown()).describe('All of it.'),
      }),
    )
    .describe('Oldest first.'),
  completed: z.boolean().describe('The session has ended.'),
  failed: z.boolean().describe('It has failed.'),
  error: z.string().optional().describe('What went wrong last, in these events.'),
  dropped_events: z.int().describe('How many are no longer kept.'),
  has_more: z.boolean().describe('Whether more events are there already.'),
});
