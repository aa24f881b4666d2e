/**
 * Remains of a deleted workspace: its deletion is due until it is over. A save that began before may still write, so its files are
 * forgotten a second time, once none can any more.
 */
import type { WorkspaceId } from '../domain/ids.ts';

/** The deletion of a workspace that is not over yet. */
export type Remains = { readonly id: WorkspaceId; readonly dueAt: number };

export interface RemainsStore {
  /** Deletes a workspace and leaves its remains, unless it has users or a sandbox, or is named and not marked as deleted. */
  remove(id: WorkspaceId, at: number): Promise<boolean>;
  /** As `due` of sessions. */
  dueRemains(
    now: number,
    itemsMax: number,
    onUnreadable?: (error: unknown) => void,
  ): Promise<readonly Remains[]>;
  /** The remains as they are due from then on; undefined when another janitor moved them. */
  postponeRemains(remains: Remains, dueAt: number): Promise<Remains | undefined>;
  removeRemains(remains: Remains): Promise<void>;
}
