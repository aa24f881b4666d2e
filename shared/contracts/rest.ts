/** The bodies and queries of the REST API. */
import * as z from 'zod';
import { eventsPerSessionMax } from '#shared/domain/limits.ts';

const name = z.string().max(256);

export const createSessionBody = z.object({
  kind: z.enum(['agent', 'execution']).optional(),
  provider: name.optional(),
  model: name.optional(),
  flavor: name.optional(),
  template: name.optional(),
  approvals: z.enum(['ask', 'auto']).optional(),
});

export const listQuery = z.object({
  after: name.optional(),
  status: name.optional(),
  project: z.uuid().optional(),
});

export const eventsQuery = z.object({
  since_index: z.coerce.number().int().min(-1).default(-1),
  max_events: z.coerce.number().int().min(1).max(eventsPerSessionMax).default(eventsPerSessionMax),
});

export const filesQuery = z.object({ path: z.string().max(4096).default('.') });
