/**
 * Snapshots: the files of a workspace at one moment, under an id and a name. A snapshot holds no memory and no process.
 *
 * It names a checkpoint and copies nothing; its pins keep the objects that the checkpoint needs (pins.ts).
 */
import type { Checkpoint } from './checkpoint.ts';
import type { OwnerId, ProjectId, SessionId, SnapshotId, WorkspaceId } from './ids.ts';
import { type Files, hadSince } from './kept-checkpoints.ts';
import { sourcesOf } from './pins.ts';

export type Snapshot = {
  readonly id: SnapshotId;
  readonly project: ProjectId;
  /** Of its workspace. */
  readonly owner: OwnerId;
  readonly workspace: WorkspaceId;
  readonly session: SessionId;
  readonly name: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Absent: the workspace was empty. It names the workspace that owns the manifest. */
  readonly checkpoint?: Checkpoint;
};

/** The files that a fork begins with: those of a workspace as its checkpoint has them, or of a snapshot. */
export type FilesSource = {
  readonly checkpoint?: Checkpoint;
  /** The time from which on they were the files of the source, in epoch milliseconds; absent: of the checkpoint. */
  readonly since?: number;
  readonly of:
    | {
        readonly kind: 'workspace';
        readonly id: WorkspaceId;
        /** The checkpoint that the table names while the workspace has these files, now or kept; absent: none. */
        readonly last?: string;
      }
    | { readonly kind: 'snapshot'; readonly id: SnapshotId; readonly project: ProjectId };
};

/** The same checkpoint as another workspace may name it: with the owner of its manifest. */
export const ownedBy = (owner: WorkspaceId, checkpoint: Checkpoint): Checkpoint => ({
  ...checkpoint,
  workspace: checkpoint.workspace ?? owner,
});

export const sourceOfWorkspace = (id: WorkspaceId, checkpoint: Checkpoint | undefined): FilesSource =>
  sourceOfKept({ id, ...(checkpoint === undefined ? {} : { checkpoint }) }, checkpoint);

/** The files of an earlier checkpoint of a workspace, while that is kept: as long as the last one has not changed. */
export const sourceOfKept = (
  { id, checkpoint: last, kept }: Files & { readonly id: WorkspaceId },
  checkpoint: Checkpoint | undefined,
): FilesSource => ({
  of: { kind: 'workspace', id, ...(last === undefined ? {} : { last: last.id }) },
  ...(checkpoint === undefined
    ? {}
    : {
        checkpoint: ownedBy(id, checkpoint),
        since: hadSince(
          { checkpoint: last ?? checkpoint, ...(kept === undefined ? {} : { kept }) },
          checkpoint,
        ),
      }),
});

export const sourceOfSnapshot = ({ id, project, checkpoint }: Snapshot): FilesSource => ({
  of: { kind: 'snapshot', id, project },
  ...(checkpoint === undefined ? {} : { checkpoint }),
});

/**
 * A fork begins with the checkpoint of its source: no file is copied. A branch has messages of earlier times, of which it must not
 * say that it had these files then.
 */
export const filesOfFork = (
  source: FilesSource | undefined,
  workspace: WorkspaceId,
): Files & { readonly sources?: readonly WorkspaceId[] } => {
  if (source?.checkpoint === undefined) return {};
  const checkpoint = { ...source.checkpoint, generation: 0 };
  const { since = checkpoint.savedAt } = source;
  const kept = since > checkpoint.savedAt ? { kept: { states: [], since } } : {};
  return { checkpoint, ...kept, sources: sourcesOf(workspace, checkpoint) };
};
