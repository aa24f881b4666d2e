/**
 * The bodies and queries of the REST API. Wrong fields are refused by name, and so are unknown fields of bodies;
 * a client's name for something (a flavor, a model) is a text here, so that an unknown one gets its own error.
 */

import * as z from 'zod';
import {
  cleanupHoursMax,
  clientIdCharactersMax,
  eventsPerSessionMax,
  pageItemsMax,
  previewPortCount,
  previewPortFirst,
  tokenSecondsMax,
  toolNamesMax,
  workspaceNoteCharactersMax,
} from '#shared/domain/limits.ts';
import { providers } from '#shared/domain/model.ts';
import { previewPortRule } from '#shared/domain/sandbox.ts';
import { sessionKinds, sessionStatuses } from '#shared/domain/session.ts';
import { callerAnswer, callerOffer } from '../caller-tools.ts';
import { afterPage, givenId, givenUuid, plainName, queryFlag } from '../fields.ts';
import { approvals, instructions, name, toolName } from './common-fields.ts';
import { networkOf } from './network.ts';
import { detailsOfNew, labelFilters, sliceLimitsOf } from './session-bodies.ts';

const workspaceNote = plainName(z.string().min(1).max(workspaceNoteCharactersMax));

export const createSessionBody = z.object({
  kind: z.enum(sessionKinds).optional(),
  project: givenUuid.optional(),
  workspace: givenId(name)
    .optional()
    .describe('Id of the workspace; absent: a new one that is deleted with the session.'),
  createWorkspace: z
    .boolean()
    .optional()
    .describe(
      'True: create the named workspace, or a new one, which outlives the session. False: use the named workspace, or the default one of the project.',
    ),
  externalId: workspaceNote.optional().describe('External id of a created workspace.'),
  source: workspaceNote.optional().describe('Source of a created workspace.'),
  from: z
    .object({
      snapshot: givenUuid.optional(),
      session: givenUuid.optional(),
      messageId: z
        .string()
        .min(1)
        .max(clientIdCharactersMax)
        .optional()
        .describe(
          'Message of the session: the new session continues the conversation from there, with the settings of the other. A message of the user is left out with all that follows; an answer that ended its turn is kept.',
        ),
      files: z
        .enum(['then', 'now'])
        .optional()
        .describe(
          'With `messageId`: the files as they were at that message (the default), or as they are now.',
        ),
    })
    .refine(({ snapshot, session }) => (snapshot === undefined) !== (session === undefined), {
      error: 'name either a snapshot or a session',
    })
    .refine(({ session, messageId }) => messageId === undefined || session !== undefined, {
      error: 'messageId: name its session',
    })
    .refine(({ messageId, files }) => files === undefined || messageId !== undefined, {
      error: 'files: name the messageId',
    })
    .optional()
    .describe(
      'Snapshot, or session whose workspace is saved now, of the same project: the new workspace begins with its files. With `messageId`, the conversation goes on as well.',
    ),
  provider: name.optional().describe(`Model provider: ${providers.join(', ')}.`),
  model: name.min(1).optional(),
  flavor: name.optional(),
  template: name.optional(),
  approvals: approvals.optional(),
  agent: z
    .string()
    .max(clientIdCharactersMax)
    .optional()
    .describe('Agent of the project, by name: its instructions, model, tools, approvals and thinking apply.'),
  instructions: instructions
    .optional()
    .describe('Text for the agent of this session, after the instructions of the project and of its agent.'),
  disabledTools: z
    .array(toolName)
    .max(toolNamesMax)
    .optional()
    .describe('Tools that the agent is not offered.'),
  allowedTools: z
    .array(toolName)
    .max(toolNamesMax)
    .optional()
    .describe('The only tools that the agent is offered.'),
  callerTools: callerOffer
    .optional()
    .describe('Tools of the client that the agent is offered; their calls are events caller_tool:request.'),
  allowSmallerFlavor: z.boolean().optional(),
  ...detailsOfNew,
});

/** The workspace of a session is decoded apart from its settings. */
export const sessionOptionsOf = ({
  workspace: id,
  createWorkspace,
  externalId,
  source,
  from: _,
  network,
  slice,
  ...settings
}: z.output<typeof createSessionBody>) => {
  const options = {
    ...settings,
    ...(network === undefined ? {} : { network: networkOf(network) }),
    ...(slice === undefined ? {} : { slice: sliceLimitsOf(slice) }),
  };
  return id === undefined && createWorkspace === undefined
    ? options
    : { ...options, ref: { id, creates: createWorkspace ?? false, externalId, source } };
};

export const callerToolsBody = z
  .object({
    ...callerOffer.shape,
    offer: givenUuid
      .optional()
      .describe('With an empty list: withdraws this offer alone, and none that came since.'),
  })
  .refine(({ tools, offer }) => offer === undefined || tools.length === 0, {
    path: ['offer'],
    message: 'is for an empty list',
  });

export const callerAnswerBody = callerAnswer.omit({ requestId: true });

export const createWorkspaceBody = z.object({
  id: givenUuid.optional().describe('Id of the workspace; absent: a new one.'),
  externalId: workspaceNote.optional().describe('Id that the client gives the workspace.'),
  source: workspaceNote.optional().describe('Origin of the workspace, as the client states it.'),
});

export const createTokenBody = z.object({
  name: plainName(z.string().min(1).max(clientIdCharactersMax)),
  scope: z.string().max(64),
  expiresInSeconds: z.number().int().min(1).max(tokenSecondsMax).optional(),
});

export const leaseBody = z.object({
  port: z
    .number()
    .int()
    .optional()
    .describe(
      `Port, ${previewPortRule}; absent: the next free one from ${previewPortFirst} to ${previewPortFirst + previewPortCount - 1}.`,
    ),
});

export const pageQuery = z.object({ after: afterPage });

export const listQuery = z.object({
  after: afterPage,
  status: z
    .enum([...sessionStatuses, 'active'])
    .optional()
    .describe('Status of the listed sessions; `active`: all that have not ended.'),
  kind: z.enum(sessionKinds).optional().describe('Kind of the listed sessions; absent: both.'),
  project: givenUuid.optional(),
  label: labelFilters
    .optional()
    .describe('Label of the listed sessions, as `key:value`; of several, a session has all.'),
  archived: queryFlag.prefault('0').describe('True: the archived sessions, instead of all others.'),
});

export const cleanupBody = z.object({
  project: givenUuid
    .optional()
    .describe('Id of the project whose sessions are deleted; absent: all sessions that the caller can list.'),
  maxAgeHours: z
    .number()
    .min(0)
    .max(cleanupHoursMax)
    .default(24)
    .describe('Hours since the end of a session, after which it is deleted with its log and files.'),
  sessions: z
    .array(givenUuid)
    .min(1)
    .max(pageItemsMax)
    .optional()
    .describe('The only sessions that are deleted, whatever their age; one that has not ended stays.'),
});

export const modelsQuery = z.object({
  provider: name.optional().describe(`Model provider: ${providers.join(', ')}; absent: the operator's.`),
});

export const modelChecksQuery = z.object({
  ...modelsQuery.shape,
  models: z
    .string()
    .max(4096)
    .optional()
    .describe('Model ids, separated by commas; absent: the default model.'),
});

export const eventsQuery = z.object({
  since_index: z.coerce.number().int().min(-1).default(-1),
  max_events: z.coerce.number().int().min(1).max(eventsPerSessionMax).default(eventsPerSessionMax),
  include_children: queryFlag
    .prefault('0')
    .describe('True: include the events of all descendant sessions, ordered by time.'),
});
