/** The audit log: rows are appended and read, never changed. */
import type { AuditRow } from '../domain/audit.ts';
import type { ProjectId } from '../domain/ids.ts';

export interface AuditLog {
  append(row: AuditRow): Promise<void>;
  /** The newest first. A page that the filter left short still has a `next`. */
  list(page: {
    readonly now: number;
    readonly project?: ProjectId | undefined;
    readonly after?: string | undefined;
    readonly itemsMax: number;
  }): Promise<{ readonly rows: readonly AuditRow[]; readonly next?: string }>;
}
