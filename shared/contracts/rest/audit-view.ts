/** A row of the audit log as REST shows it. */
import * as z from 'zod';
import type { AuditRow } from '#shared/domain/audit.ts';
import { givenUuid } from '../given-id.ts';
import { iso } from '../time.ts';

export const auditQuery = z.object({
  project: givenUuid.optional().describe('Id of the project whose actions are listed.'),
  after: z
    .string()
    .regex(/^\d{13}#[0-9a-f]{8}$/, 'must be the next of the page before')
    .optional()
    .describe('The `next` of the previous page.'),
});

const row = z
  .object({
    at: z.iso.datetime(),
    actor: z.string().describe('Id of the token or the person; `janitor` for the platform itself.'),
    actorKind: z.string().describe('Kind of actor: `token` or `person`.'),
    actorName: z.string().optional(),
    scope: z.string(),
    action: z.string().describe('Action, such as `approval.decide` or `token.create`.'),
    subject: z.string().describe('Id of the resource that was acted on.'),
    project: z.string().optional(),
    detail: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'AuditRow' });

export const auditAnswer = z.object({ rows: z.array(row), next: z.string().optional() });

export const auditView = ({ at, actor, ...rest }: AuditRow): z.output<typeof row> => ({
  at: iso(at),
  actor: actor.id,
  actorKind: actor.kind,
  ...(actor.name === undefined ? {} : { actorName: actor.name }),
  ...rest,
});
