/** A row of the audit log as the table holds it. */
import * as z from 'zod';
import type { ProjectId } from '#shared/domain/ids.ts';
import { decider, epochMs, id, jsonObject } from './fields.ts';

export const auditRecord = z.object({
  at: epochMs,
  actor: decider,
  scope: z.string(),
  action: z.string(),
  subject: z.string(),
  project: id<ProjectId>().exactOptional(),
  detail: jsonObject,
});
