/** A row of the audit log as clients read it, and as its hash is made. */
import type { AuditRow } from '#shared/domain/audit.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { iso } from './fields.ts';

type AuditRowView = Omit<AuditRow, 'at' | 'actor'> &
  JsonObject & {
    readonly at: string;
    readonly actor: string;
    readonly actorKind: AuditRow['actor']['kind'];
    readonly actorName?: string;
  };

export const auditRowView = ({ at, actor, ...rest }: AuditRow): AuditRowView => ({
  at: iso(at),
  actor: actor.id,
  actorKind: actor.kind,
  ...(actor.name === undefined ? {} : { actorName: actor.name }),
  ...rest,
});
