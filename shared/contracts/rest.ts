/**
 * The bodies and queries of the REST API. Unknown fields are ignored, wrong ones refused by name; what is
 * named by a client (a flavor, a model) is a text here, so that an unknown one gets the words of its own error.
 */
import * as z from 'zod';
import { eventsPerSessionMax, placeWaitSecondsMax, tokenSecondsMax } from '#shared/domain/limits.ts';
import { approvalModes } from '#shared/domain/session.ts';
import { sessionStatuses } from './session-view.ts';

const name = z.string().max(256);
const approvals = z.enum(approvalModes);

export const createSessionBody = z.object({
  kind: z.enum(['agent', 'execution']).optional(),
  project: z.uuid().optional(),
  provider: name.optional(),
  model: name.optional(),
  flavor: name.optional(),
  template: name.optional(),
  approvals: approvals.optional(),
  allowSmallerFlavor: z.boolean().optional(),
  /** Stops the least recently used idle execution session when no place is left. */
  evictIdle: z.boolean().default(false),
  waitSeconds: z.number().min(0).max(placeWaitSecondsMax).default(0),
});

export const createProjectBody = z.object({
  name: z.string().min(1).max(128),
  description: z.string().max(2000).optional(),
  flavor: name.optional(),
  template: name.optional(),
  flavorsAllowed: z.array(name).min(1).max(4).optional(),
  approvals: approvals.optional(),
});

export const createTokenBody = z.object({
  name: z.string().min(1).max(128),
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
  status: z.enum(sessionStatuses).optional(),
  project: z.uuid().optional(),
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
});

export const filesQuery = z.object({
  path: z.string().max(4096).default('.').describe('A folder, relative to /workspace.'),
});

export const partHeaders = z.object({
  'content-range': z.string().optional().describe('bytes a-b/total, for a file that comes in parts.'),
});
