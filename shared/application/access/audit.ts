/** Writes rows of the audit log, and logs each in the function's own log. */

import type { AuditRow } from '../../domain/audit.ts';
import type { ProjectId } from '../../domain/ids.ts';
import type { JsonObject } from '../../domain/json.ts';
import { deciderOf, type Principal } from '../../domain/principal.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { AuditDeps } from '../deps.ts';

export type AuditEntry = {
  readonly action: string;
  readonly subject: string;
  readonly project?: ProjectId | undefined;
  readonly detail?: JsonObject;
};

export const auditRow = (
  principal: Principal,
  at: number,
  { action, subject, project, detail = {} }: AuditEntry,
): AuditRow => ({
  at,
  actor: deciderOf(principal),
  scope: principal.scope,
  action,
  subject,
  ...(project === undefined ? {} : { project }),
  detail,
});

export const audit = async (
  { auditLog, telemetry, world }: AuditDeps,
  principal: Principal,
  entry: AuditEntry,
): Promise<void> => {
  const row = auditRow(principal, world.now(), entry);
  await auditLog.append(row);
  recordAudit(telemetry, row);
};

/** Logs a row in the function's log that another write has made. */
export const recordAudit = (telemetry: Telemetry, { actor, ...row }: AuditRow): void =>
  telemetry.info('audit', { event: 'audit', actor: actor.id, ...row });
