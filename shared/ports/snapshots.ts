/** Snapshots of a project, each made and deleted together with its pins and its row of the audit log. */
import type { AuditRow } from '../domain/audit.ts';
import type { ProjectId, SnapshotId } from '../domain/ids.ts';
import type { Snapshot } from '../domain/snapshot.ts';

export interface SnapshotStore {
  /**
   * `gone`: the project is deleted. `full`: it has as many as it may. `moved`: the workspace has another checkpoint by now, or is
   * deleted.
   */
  create(
    snapshot: Snapshot,
    request: { readonly snapshotsMax: number; readonly audits: readonly AuditRow[] },
  ): Promise<'created' | 'gone' | 'full' | 'moved'>;
  get(project: ProjectId, id: SnapshotId): Promise<Snapshot | undefined>;
  /** Of the whole project, newest first. */
  list(project: ProjectId): Promise<readonly Snapshot[]>;
  /** False when it is deleted already. */
  remove(snapshot: Snapshot, at: number, audits: readonly AuditRow[]): Promise<boolean>;
}
