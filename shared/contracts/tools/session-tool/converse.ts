/** The arguments and results of `session message` and `session spawn`. */
import * as z from 'zod';
import { clientIdCharactersMax, messageTextBytesMax } from '#shared/domain/limits.ts';
import { autonomies } from '#shared/domain/project.ts';
import { utf8Bytes } from '#shared/domain/text.ts';
import { callerId, offeredTools } from '../../caller-tools.ts';
import { plainName } from '../../plain-name.ts';
import {
  closed,
  flag,
  flavor,
  hasNoNul,
  noNul,
  oneOf,
  projectId,
  template,
  text,
  toolNames,
  workspaceId,
} from '../tool-fields.ts';
import { pendingApprovals, usage } from './fields.ts';

const error = `a text of 1 to ${messageTextBytesMax} bytes`;

const message = z
  .string({ error })
  .min(1, { error })
  .refine((value) => utf8Bytes(value) <= messageTextBytesMax, { error })
  .refine(hasNoNul, noNul);

const noteCharactersMax = 256;
const note = plainName(text(noteCharactersMax));

const speech = {
  project_id: projectId.optional().describe('The project; absent: the one of the token, or the default one.'),
  workspace_id: workspaceId.optional().describe('The workspace; absent: the default one of the project.'),
  create_workspace: flag
    .default(false)
    .describe('Make the workspace when it is not there; without workspace_id a new one.'),
  external_id: note.optional().describe('What you call a workspace that is made.'),
  source: note.optional().describe('Where a workspace that is made comes from.'),
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

/** Without a client there is no name for its tools. */
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
