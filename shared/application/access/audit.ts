/** Writes one row of the audit log, and says it in the function's own log. */
import type { Principal } from '../../domain/principal.ts';
import type { AuditLog } from '../../ports/audit-log.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { World } from '../../ports/world.ts';

export type AuditPorts = {
  readonly auditLog: AuditLog;
  readonly telemetry: Telemetry;
  readonly world: World;
};

/** Enough of a hash to tell tokens apart. */
const actorCharacters = 12;

export const audit = async (
  { auditLog, telemetry, world }: AuditPorts,
  { scope, tokenHash }: Principal,
  { operation, target }: { readonly operation: string; readonly target: string },
): Promise<void> => {
  const row = { at: world.now(), actor: tokenHash.slice(0, actorCharacters), scope, operation, target };
  await auditLog.append(row);
  telemetry.info('audit', { event: 'audit', ...row });
};
