/**
 * The bodies and queries of the REST API. Wrong fields are refused by name, and so are unknown fields of bodies;
 * a client's name for something (a flavor, a model) is a text here, so that an unknown one gets its own error.
 */
import * as z from 'zod';
import { approvalModes } from '#shared/domain/approval-mode.ts';
import {
  cleanupHoursMax,
  clientIdCharactersMax,
  eventsPerSessionMax,
  slotWaitSecondsMax,
  tokenSecondsMax,
  toolNamesMax,
} from '#shared/domain/limits.ts';
import { namespacings } from '#shared/domain/mcp/naming.ts';
import { autonomies } from '#shared/domain/project.ts';
import { sessionStatuses } from '#shared/domain/session.ts';
import { callerAnswer, callerOffer } from '../caller-tools.ts';
import { filePathProblem } from '../file-path.ts';
import { givenId, givenUuid } from '../given-id.ts';
import { plainName } from '../plain-name.ts';

const name = z.string().max(256);
const approvals = z.enum(approvalModes);
const toolName = z.string().min(1).max(clientIdCharactersMax);
const workspaceNote = plainName(z.string().min(1).max(256));

export const createSessionBody = z.object({
  kind: z.enum(['agent', 'execution']).optional(),
  project: givenUuid.optional(),
  workspace: givenId(name).optional().describe('Absent: one of its own, which goes with it.'),
  createWorkspace: z
    .boolean()
    .optional()
    .describe(
      'Make the workspace that is named, or a new one, which stays. False: the default one of the project.',
    ),
  externalId: workspaceNote.optional().describe('Of a workspace that is made.'),
  source: workspaceNote.optional().describe('Of a workspace that is made.'),
  provider: name.optional().describe('anthropic, openai, gemini or demo.'),
  model: name.min(1).optional(),
  flavor: name.optional(),
  template: name.optional(),
  approvals: approvals.optional(),
  disabledTools: z.array(toolName).max(toolNamesMax).optional().describe('Tools its agent is not offered.'),
  allowedTools: z.array(toolName).max(toolNamesMax).optional().describe('The only tools it is offered.'),
  callerTools: callerOffer
    .optional()
    .describe('Tools of yours that its agent is offered; calls are events caller_tool:request.'),
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
  description: z.string().max(2000).nullish(),
  provider: name.nullish().describe('anthropic, openai, gemini or demo.'),
  model: name.min(1).nullish(),
  flavor: name.nullish(),
  template: name.nullish(),
  flavorsAllowed: z.array(name).min(1).max(4).nullish().describe('The sizes its sessions may have.'),
  approvals: approvals.nullish(),
  autonomy: z
    .enum(autonomies)
    .nullish()
    .describe('As `approvals`, in other words: `off` is `auto`, the rest are called the same.'),
  limits: z
    .object({
      maxRecursionDepth: z.number().nullish().describe('0 to 10.'),
      maxAgentsPerSession: z.number().nullish().describe('1 to 1000.'),
      maxCostUsd: z.number().nullish().describe('0 to 100000.'),
    })
    .nullish()
    .describe("What is left out is the operator's."),
  disabledTools: z.array(toolName).max(toolNamesMax).nullish().describe('Tools its agents are not offered.'),
  mcpNamespacing: z.enum(namespacings).nullish(),
});

export const createProjectBody = z.object({ name: projectName, ...projectDefaults.shape });

/** A field that is null is removed. */
export const updateProjectBody = z.object({ name: projectName.optional(), ...projectDefaults.shape });

export const createWorkspaceBody = z.object({
  id: givenUuid.optional().describe('Absent: a new one.'),
  externalId: workspaceNote.optional().describe('What you call it.'),
  source: workspaceNote.optional().describe('Where it comes from.'),
});

export const createTokenBody = z.object({
  name: plainName(z.string().min(1).max(128)),
  scope: z.string().max(64),
  expiresInSeconds: z.number().int().min(1).max(tokenSecondsMax).optional(),
});

export const leaseBody = z.object({
  port: z.number().int().optional().describe('8000 to 8999; absent: the next free one.'),
});

const after = name.optional().describe('The `next` of the page before.');

export const pageQuery = z.object({ after });

export const listQuery = z.object({
  after,
  status: z
    .enum([...sessionStatuses, 'active'])
    .optional()
    .describe('`active`: none that has ended.'),
  project: givenUuid.optional(),
});

export const cleanupBody = z.object({
  project: givenUuid.optional().describe('Only sessions of it; absent: all that the list shows.'),
  maxAgeHours: z
    .number()
    .min(0)
    .max(cleanupHoursMax)
    .default(24)
    .describe('Sessions that ended longer ago are removed, with their logs and files.'),
});

export const modelsQuery = z.object({
  provider: name.optional().describe("anthropic, openai, gemini or demo; absent: the operator's."),
});

export const modelChecksQuery = z.object({
  ...modelsQuery.shape,
  models: z.string().max(4096).optional().describe('Ids with commas between; absent: the default.'),
});

export const eventsQuery = z.object({
  since_index: z.coerce.number().int().min(-1).default(-1),
  max_events: z.coerce.number().int().min(1).max(eventsPerSessionMax).default(eventsPerSessionMax),
  include_children: z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true')
    .describe('With the events of the sessions under it, in the order of time.'),
});

export const filesQuery = z.object({
  path: z
    .string()
    .max(4096)
    .refine((given) => filePathProblem(given) === undefined, {
      error: ({ input }) => `must be ${filePathProblem(String(input))}`,
    })
    .default('.')
    .describe('A folder, relative to /workspace.'),
});

export const partHeaders = z.object({
  'content-range': z.string().optional().describe('bytes a-b/total, for a file that comes in parts.'),
});
