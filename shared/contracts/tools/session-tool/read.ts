/**
 * The fields that actions of the tool `session` share, and the arguments and results of `get`, `list` and `events`.
 */
import * as z from 'zod';
import { clientIdCharactersMax, eventsPerSessionMax, pageItemsMax } from '#shared/domain/limits.ts';
import { sessionStatuses } from '#shared/domain/session.ts';
import { after, closed, flag, id, moment, next, oneOf, projectId, wholeFrom } from '../tool-fields.ts';

export const sessionId = id.describe('Id of a session.');

export const ofSessionArguments = closed({ session_id: sessionId });

export const usage = {
  input_tokens: z.int().describe('Number of input tokens.'),
  output_tokens: z.int().describe('Number of output tokens.'),
};

export const pendingApprovals = z
  .array(
    z.object({
      call_id: z.string().describe('Id of the call; pass it to action approve.'),
      name: z.string().describe('Name of the tool.'),
      turn_id: z.string().describe('Id of the turn.'),
      args: z.record(z.string(), z.unknown()).describe('Arguments of the call.'),
      digest: z
        .string()
        .describe('Digest of the call; pass it to action approve to decide about exactly this call.'),
      effect: z
        .record(z.string(), z.unknown())
        .optional()
        .describe('What the call did when it was tried: files, exitCode, output, hosts, durationMs.'),
      effect_digest: z.string().optional().describe('Digest of the effect; action approve requires it.'),
      effect_missing: z.string().optional().describe('Reason for which the call was not tried.'),
    }),
  )
  .describe('Calls that need approval, in their order.');

export const sessionDetails = z.object({
  session_id: z.string().describe('Id of the session.'),
  kind: z.string().describe('Kind of session: agent or execution.'),
  title: z.string().optional().describe('First words of the conversation.'),
  status: z.string().describe('Status of the session.'),
  project_id: z.string().describe('Id of the project.'),
  workspace_id: z.string().describe('Id of the workspace.'),
  flavor: z.string().describe('Flavor of the session.'),
  template: z.string().describe('Language of the session.'),
  provider: z.string().describe('Model provider of the agent.'),
  model: z.string().describe('Model of the agent.'),
  thinking: z.string().optional().describe('How long the model thinks before it answers.'),
  runtime: z.string().optional().describe('Program that carries its turns; absent: the built-in loop.'),
  approvals: z.string().describe('Approvals mode: the calls that run without approval.'),
  depth: z.int().describe('Depth in the session tree; 0: no agent started it.'),
  created_at: moment,
  last_active_at: moment,
  last_event_index: z.int().describe('Index of the newest event; -1: none.'),
  usage: z.object(usage).describe('Tokens used by all turns.'),
  cost_usd: z.number().describe('Cost of the model calls in US dollars, by the price table.'),
});

export const getSessionResult = z.object({
  ...sessionDetails.shape,
  pending_approvals: pendingApprovals,
  turns: z
    .array(
      z.object({
        message_id: z.string().describe('Id of the message that the turn answers.'),
        request: z.string().describe('Message, cut.'),
        started_at: moment,
        finished: z.boolean().describe('True: the turn has ended.'),
        ended_at: moment.optional(),
        stop_reason: z.string().optional().describe('Reason why the turn ended.'),
        output: z.string().optional().describe('Answer, cut.'),
        usage: z.object(usage).optional().describe('Tokens used by the turn.'),
      }),
    )
    .describe('Newest turns that the log still has, oldest first.'),
});

export const listSessionsArguments = closed({
  project_id: projectId.optional(),
  status: oneOf(['active', ...sessionStatuses])
    .optional()
    .describe('Status of the listed sessions; active: all that have not ended.'),
  limit: wholeFrom(1, pageItemsMax).default(pageItemsMax).describe('Largest number of sessions.'),
  after: after(clientIdCharactersMax * 4),
});

export const listSessionsResult = z.object({
  sessions: z.array(sessionDetails).describe('Sessions, newest first.'),
  next,
});

export const eventsArguments = closed({
  session_id: sessionId,
  since_index: wholeFrom(-1, Number.MAX_SAFE_INTEGER)
    .default(-1)
    .describe('Index after which events are returned; -1: all.'),
  max_events: wholeFrom(1, eventsPerSessionMax)
    .default(eventsPerSessionMax)
    .describe('Largest number of events.'),
  include_children: flag
    .default(false)
    .describe(
      'True: include the events of all descendant sessions, ordered by time; their events may be repeated.',
    ),
});

export const eventsResult = z.object({
  session_id: z.string().describe('Id of the session.'),
  status: z.string().describe('Status of the session.'),
  last_index: z.int().describe('Index of the last event; pass it as since_index.'),
  events: z
    .array(
      z.object({
        index: z.int().describe('Index in the log of its session.'),
        session_id: z.string().describe('Id of the session of the event.'),
        type: z.string().describe('Type of the event, as in the frames of the WebSocket.'),
        at: moment,
        text: z.string().optional().describe('Text of the event.'),
        tool_name: z.string().optional().describe('Name of the tool.'),
        role: z.string().optional().describe('Role: user or assistant.'),
        data: z.record(z.string(), z.unknown()).describe('All fields of the event.'),
      }),
    )
    .describe('Events, oldest first.'),
  completed: z.boolean().describe('True: the status is completed.'),
  failed: z.boolean().describe('True: the status is failed; a failed turn is an event.'),
  error: z.string().optional().describe('Last error in these events.'),
  dropped_events: z.int().describe('Number of events that the log no longer has.'),
  has_more: z.boolean().describe('True: more events are available.'),
  left_out: z
    .array(
      z.object({
        session_id: z.string().describe('Id of the descendant.'),
        since_index: z.int().describe('Read its events from here.'),
      }),
    )
    .optional()
    .describe(
      'With include_children: descendants with more events than fit; read the events of each from since_index.',
    ),
});
