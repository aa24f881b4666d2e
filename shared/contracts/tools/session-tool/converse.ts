/** The arguments and results of `session message` and `session spawn`. */

import * as z from 'zod';
import {
  callerAnswerMs,
  clientIdCharactersMax,
  messageTextBytesMax,
  modelNameCharactersMax,
  workspaceNoteCharactersMax,
} from '#shared/domain/limits.ts';
import { thinkingLevels } from '#shared/domain/model.ts';
import { autonomies } from '#shared/domain/project.ts';
import { runtimeNames } from '#shared/domain/runtime-name.ts';
import { approvalModes } from '#shared/domain/session.ts';
import { utf8Bytes } from '#shared/domain/text.ts';
import { meaningfulEmpty } from '../../absent-arguments.ts';
import { callerId, offeredToolsArgument } from '../../caller-tools.ts';
import { plainName } from '../../fields.ts';
import { hasNoNul } from '../../program-fields.ts';
import { labels, maxCostUsd, variables } from '../../rest/session-bodies.ts';
import { networkArgument, pairs } from '../free-form-fields.ts';
import {
  closed,
  flag,
  flavor,
  noNul,
  oneOf,
  projectId,
  templateName,
  text,
  toolNames,
  workspaceId,
} from '../tool-fields.ts';
import { pendingApprovals, sessionId, usage } from './read.ts';

const error = `a text of 1 to ${messageTextBytesMax} bytes`;

const message = z
  .string({ error })
  .min(1, { error })
  .refine((value) => utf8Bytes(value) <= messageTextBytesMax, { error })
  .refine(hasNoNul, noNul);

const note = plainName(text(workspaceNoteCharactersMax));

const speech = {
  project_id: projectId
    .optional()
    .describe('Id of the project; absent: that of the token, or the default one.'),
  workspace_id: workspaceId
    .optional()
    .describe('Id of the workspace; absent: the default one of the project.'),
  create_workspace: flag
    .default(false)
    .describe('True: create a missing workspace; without workspace_id a new one.'),
  external_id: note.optional().describe('Id that the client gives a created workspace.'),
  source: note.optional().describe('Origin of a created workspace.'),
  model: text(modelNameCharactersMax).optional().describe('Model of the agent.'),
  thinking: oneOf(thinkingLevels).optional().describe('How long the model thinks.'),
  runtime: oneOf(runtimeNames).optional().describe('Program that carries the turns of a new session.'),
  message_id: text(clientIdCharactersMax)
    .optional()
    .describe('Id of the message; a repetition within a day has no effect.'),
  flavor: flavor.optional().describe('Flavor of a new session.'),
  template: templateName.optional().describe('Template of a new session.'),
  approvals: oneOf(approvalModes)
    .optional()
    .describe('Calls that need no approval in a new session: none with ask, all with auto.'),
  autonomy_level: oneOf(autonomies).optional().describe('Alternative name of approvals; off is auto.'),
  max_cost_usd: maxCostUsd.optional().describe('US dollars that a new session may cost.'),
  labels: pairs(/^([^:]+):(.*)$/s, { form: 'key:value', of: labels })
    .optional()
    .describe('Labels of a new session, each as key:value.'),
  env: pairs(/^([^=]+)=(.*)$/s, { form: 'NAME=value', of: variables })
    .optional()
    .describe('Environment variables in a new sandbox, each as NAME=value.'),
  network: networkArgument
    .optional()
    .describe(
      "Hosts that the sandbox of a new session may reach; [none]: no network; absent: its project's.",
    ),
  tools_allowed: toolNames.optional().describe('The only tools that a new session offers its agent.'),
  tools_disallowed: toolNames.optional().describe('Tools that a new session does not offer its agent.'),
  caller_id: callerId
    .optional()
    .describe('Id of the client that offers caller_tools; the agent sees them as <caller_id>_<name>.'),
  caller_tools: offeredToolsArgument
    .optional()
    .describe(
      `Tools of the client for the agent. They replace those that the client offered before; [] withdraws them. Calls are events caller_tool:request: answer each with caller_tool_response within ${callerAnswerMs / 1000} seconds.`,
    )
    .register(meaningfulEmpty, { meaning: 'it withdraws the tools of the client' }),
  wait: flag
    .default(false)
    .describe(
      'True: respond after the agent has answered. Until then its tool calls, their outputs and errors are sent as notifications/message of the logger sallyport.session.',
    ),
  stop_at_approval: flag
    .default(false)
    .describe('With wait: respond also when a call needs approval (action approve).'),
};

/** Without a client there is no name for its tools. */
const isOfferNamed = ({
  caller_id,
  caller_tools,
}: {
  caller_id?: unknown;
  caller_tools?: unknown;
}): boolean => caller_id !== undefined || !Array.isArray(caller_tools) || caller_tools.length === 0;

const unnamedOffer = { path: ['caller_id'], error: 'required with caller_tools' };

/** A session has its workspace. */
const isInOnePlace = ({ session_id, workspace_id }: { session_id?: unknown; workspace_id?: unknown }) =>
  session_id === undefined || workspace_id === undefined;

export const messageArguments = closed({
  message: message.describe('Message to the agent.'),
  session_id: sessionId.optional(),
  ...speech,
})
  .refine(isOfferNamed, unnamedOffer)
  .refine(isInOnePlace, { path: ['workspace_id'], error: 'leave it out with session_id' });

export const spawnArguments = closed({
  message: message.optional().describe('Message to the agent.'),
  ...speech,
  new_session: flag
    .default(false)
    .describe('True: create a session; absent: the latest one of the workspace, resumed if it has ended.'),
}).refine(isOfferNamed, unnamedOffer);

export const conversedResult = z.object({
  session_id: z.string().describe('Id of the session that answers.'),
  workspace_id: z.string().describe('Id of the workspace.'),
  spawned: z.boolean().describe('True: the session is new.'),
  workspace_created: z.boolean().describe('True: the workspace is new.'),
  last_event_index: z.int().describe('Index of the last event; pass it to action events as since_index.'),
  message_id: z.string().optional().describe('Id under which the message was accepted.'),
  summary: z.string().describe('Summary for a person.'),
  finished: z
    .boolean()
    .optional()
    .describe('With wait: true if the agent has answered; without text if its log no longer has that.'),
  stop_reason: z.string().optional().describe('Reason why the turn ended.'),
  text: z.string().optional().describe('Answer of the agent.'),
  usage: z.object(usage).optional().describe('Tokens used by the turn.'),
  pending_approvals: pendingApprovals.optional(),
});
