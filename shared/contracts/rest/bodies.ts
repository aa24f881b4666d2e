/**
 * The bodies and queries of the REST API. Wrong fields are refused by name, and so are unknown fields of bodies;
 * a client's name for something (a flavor, a model) is a text here, so that an unknown one gets its own error.
 */

import * as z from 'zod';
import { flavorNames } from '#shared/domain/flavor.ts';
import {
  cleanupHoursMax,
  clientIdCharactersMax,
  eventsPerSessionMax,
  modelNameCharactersMax,
  previewPortCount,
  previewPortFirst,
  projectDescriptionCharactersMax,
  slotWaitSecondsMax,
  tokenSecondsMax,
  toolNamesMax,
  workspaceNoteCharactersMax,
} from '#shared/domain/limits.ts';
import { namespacings } from '#shared/domain/mcp/server.ts';
import { providers } from '#shared/domain/model.ts';
import { autonomies } from '#shared/domain/project.ts';
import { approvalModes, sessionKinds, sessionStatuses } from '#shared/domain/session.ts';
import { boundsText } from '#shared/domain/session-tree.ts';
import { callerAnswer, callerOffer } from '../caller-tools.ts';
import { afterPage, filePathProblem, givenId, givenUuid, pathCharactersMax, plainName } from '../fields.ts';

const name = z.string().max(modelNameCharactersMax);
const approvals = z.enum(approvalModes);
const toolName = z.string().min(1).max(clientIdCharactersMax);
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
  provider: name.optional().describe(`Model provider: ${providers.join(', ')}.`),
  model: name.min(1).optional(),
  flavor: name.optional(),
  template: name.optional(),
  approvals: approvals.optional(),
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
  /** Stops the least recently used idle execution session when no slot is left. */
  evictIdle: z.boolean().default(false),
  waitSeconds: z.number().min(0).max(slotWaitSecondsMax).default(0),
});

/** The workspace of a session is decoded apart from its settings. */
export const sessionOptionsOf = ({
  workspace: id,
  createWorkspace,
  externalId,
  source,
  ...options
}: z.output<typeof createSessionBody>) =>
  id === undefined && createWorkspace === undefined
    ? options
    : { ...options, ref: { id, creates: createWorkspace ?? false, externalId, source } };

export const callerAnswerBody = callerAnswer.omit({ requestId: true });

const projectName = plainName(z.string().min(1).max(clientIdCharactersMax));
const projectDefaults = z.object({
  description: z.string().max(projectDescriptionCharactersMax).nullish(),
  provider: name.nullish().describe(`Model provider: ${providers.join(', ')}.`),
  model: name.min(1).nullish(),
  flavor: name.nullish(),
  template: name.nullish(),
  flavorsAllowed: z
    .array(name)
    .min(1)
    .max(flavorNames.length)
    .nullish()
    .describe('Flavors that sessions of the project may have.'),
  approvals: approvals.nullish(),
  autonomy: z
    .enum(autonomies)
    .nullish()
    .describe('Alternative name of `approvals`: `off` means `auto`, the other values are the same.'),
  limits: z
    .object({
      maxRecursionDepth: z
        .number()
        .nullish()
        .describe(`Largest depth of agents that start agents, ${boundsText('recursionDepthMax')}.`),
      maxAgentsPerSession: z
        .number()
        .nullish()
        .describe(
          `Largest number of agents that one session may start, ${boundsText('agentsPerSessionMax')}.`,
        ),
      maxCostUsd: z
        .number()
        .nullish()
        .describe(`Most that one session may spend on models, in US dollars, ${boundsText('costUsdMax')}.`),
    })
    .nullish()
    .describe("Limits of the project; an absent one is the operator's."),
  disabledTools: z
    .array(toolName)
    .max(toolNamesMax)
    .nullish()
    .describe('Tools that agents of the project are not offered.'),
  mcpNamespacing: z.enum(namespacings).nullish(),
});

export const createProjectBody = z.object({ name: projectName, ...projectDefaults.shape });

/** A field that is null is removed. */
export const updateProjectBody = z.object({ name: projectName.optional(), ...projectDefaults.shape });

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
      `Port, ${previewPortFirst} to ${previewPortFirst + previewPortCount - 1}; absent: the next free one.`,
    ),
});

export const pageQuery = z.object({ after: afterPage });

export const listQuery = z.object({
  after: afterPage,
  status: z
    .enum([...sessionStatuses, 'active'])
    .optional()
    .describe('Status of the listed sessions; `active`: all that have not ended.'),
  project: givenUuid.optional(),
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
  include_children: z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true')
    .describe('True: include the events of all descendant sessions, ordered by time.'),
});

export const filesQuery = z.object({
  path: z
    .string()
    .max(pathCharactersMax)
    .refine((given) => filePathProblem(given) === undefined, {
      error: ({ input }) => `must be ${filePathProblem(String(input))}`,
    })
    .default('.')
    .describe('Path relative to /workspace.'),
});

export const partHeaders = z.object({
  'content-range': z
    .string()
    .optional()
    .describe('Range `bytes a-b/total`, for a file that is sent in parts.'),
});
