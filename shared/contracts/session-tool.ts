/** The arguments and results of the tools `session` and `workspace`. */
import * as z from 'zod';
import {
  cleanupHoursMax,
  clientIdCharactersMax,
  eventsPerSessionMax,
  messageTextBytesMax,
  pageItemsMax,
  toolNamesMax,
} from '#shared/domain/limits.ts';
import { autonomies } from '#shared/domain/project.ts';
import { utf8Bytes } from '#shared/domain/text.ts';
import { callerId, offeredTools } from './caller-tools.ts';
import { sessionStatuses } from './session-view.ts';
import {
  after,
  closed,
  flavor,
  hasNoNul,
  moment,
  next,
  noNul,
  oneOf,
  projectId,
  template,
  text,
} from './tool-fields.ts';

const error = `a text of 1 to ${messageTextBytesMax} bytes`;
const message = z
  .string({ error })
  .min(1, { error })
  .refine((value) => utf8Bytes(value) <= messageTextBytesMax, { error })
  .refine(hasNoNul, noNul);
const flag = z.boolean({ error: 'true or false' });
const wholeFrom = (min: number, max: number) => {
  const expected = { error: `a whole number from ${min} to ${max}` };
  return z.int(expected).min(min, expected).max(max, expected);
};
const toolNames = z
  .array(text(clientIdCharactersMax), { error: 'a list of names of tools' })
  .max(toolNamesMax, { error: `a list of at most ${toolNamesMax} names` });
const sessionId = text(clientIdCharactersMax).describe('The id of a session.');
const workspaceId = text(clientIdCharactersMax).describe('The id of a workspace.');
const noteCharactersMax = 256;

const speech = {
  project_id: projectId.optional().describe('The project; absent: the one of the token, or the default one.'),
  workspace_id: workspaceId.optional().describe('The workspace; absent: the default one of the project.'),
  create_workspace: flag
    .default(false)
    .describe('Make the workspace when it is not there; without workspace_id a new one.'),
  external_id: text(noteCharactersMax).optional().describe('What you call a workspace that is made.'),
  source: text(noteCharactersMax).optional().describe('Where a workspace that is made comes from.'),
  model: text(clientIdCharactersMax).optional().describe('What the agent thinks with.'),
  message_id: text(clientIdCharactersMax)
    .optional()
    .describe('Repeated with the same one within a day, the message is said once.'),
  flavor: flavor.optional().describe('The size of a session that is made, in any case.'),
  template: template.optional().describe('The language of a session that is made.'),
  autonomy_level: oneOf(autonomies)
    .optional()
    .describe('Which calls run without a human in a session that is made: off all, high, medium, low fewer.'),
  tools_allowed: toolNames
    .optional()
    .describe('The only tools that the agent of a session that is made has.'),
  tools_disallowed: toolNames.optional().describe('Tools that the agent of a session that is made has not.'),
  caller_id: callerId
    .optional()
    .describe('Who offers caller_tools: the agent sees them as <caller_id>_<name>.'),
  caller_tools: offeredTools
    .optional()
    .describe(
      'Tools of yours for its agent, instead of those you offered before; [] takes them back. Calls are events caller_tool:request: answer each with caller_tool_response within 60 seconds.',
    ),
  wait: flag
    .default(false)
    .describe(
      'Answer when the agent has. Until then its tool calls, their outputs and errors come as notifications/message of the logger sallyport.session.',
    ),
  stop_at_approval: flag
    .default(false)
    .describe('With wait: answer also when a call waits for a human, to be decided with action approve.'),
};

/** The tools of nobody have no names. */
const isOfferNamed = ({
  caller_id,
  caller_tools,
}: {
  caller_id?: unknown;
  caller_tools?: unknown;
}): boolean => caller_tools === undefined || caller_id !== undefined;
const unnamedOffer = { path: ['caller_id'], error: 'required with caller_tools' };

export const messageArguments = closed({
  message: message.describe('What is said to the agent.'),
  ...speech,
}).refine(isOfferNamed, unnamedOffer);

export const spawnArguments = closed({
  message: message.optional().describe('What is said to the agent.'),
  ...speech,
  new_session: flag.default(false).describe('A new session even where one answers in the workspace.'),
}).refine(isOfferNamed, unnamedOffer);

const usage = {
  input_tokens: z.int().describe('Tokens in.'),
  output_tokens: z.int().describe('Tokens out.'),
};

const pendingApprovals = z
  .array(
    z.object({
      call_id: z.string().describe('Give it to action approve.'),
      name: z.string().describe('The tool.'),
      args: z.record(z.string(), z.unknown()).describe('Its arguments.'),
    }),
  )
  .describe('Calls that wait for a human, the next one first.');

export const conversedResult = z.object({
  session_id: z.string().describe('The session that answers.'),
  workspace_id: z.string().describe('Where it works.'),
  spawned: z.boolean().describe('The session is new.'),
  workspace_created: z.boolean().describe('The workspace is new.'),
  last_event_index: z.int().describe('Read the events after it.'),
  message_id: z.string().optional().describe('Under which the message was accepted.'),
  summary: z.string().describe('The same for a person.'),
  finished: z.boolean().optional().describe('With wait: whether the agent has answered.'),
  stop_reason: z.string().optional().describe('Why its turn ended.'),
  text: z.string().optional().describe('What it answered.'),
  usage: z.object(usage).optional().describe('What the turn used.'),
  pending_approvals: pendingApprovals.optional(),
});

export const ofSessionArguments = closed({ session_id: sessionId });

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

export const listWorkspacesArguments = closed({
  project_id: projectId.optional().describe('The project; absent: the one of the token, or the default one.'),
  limit: wholeFrom(1, pageItemsMax)
    .default(pageItemsMax)
    .describe('How many at most, besides the default one.'),
  after: after(clientIdCharactersMax * 4),
});
export const workspaceResult = z.object({
  id: z.string().describe('Its id.'),
  project_id: z.string().describe('Its project.'),
  is_default: z.boolean().describe('What the project falls back to.'),
  external_id: z.string().optional().describe('What its client calls it.'),
  source: z.string().optional().describe('Where it comes from.'),
  created_at: moment,
  active_sessions: z.int().describe('Sessions that use it now.'),
  latest_session_id: z.string().optional().describe('The agent session that entered it last.'),
  saved_at: moment.optional(),
});
export const listWorkspacesResult = z.object({
  workspaces: z.array(workspaceResult).describe('The default one, then the others, oldest first.'),
  next,
});
export const deleteWorkspaceArguments = closed({
  project_id: projectId.optional().describe('The project; absent: the one of the token, or the default one.'),
  workspace_id: workspaceId,
});
