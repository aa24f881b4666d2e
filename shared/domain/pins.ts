/**
 * Pins: the objects of a workspace that a snapshot or another workspace needs, and which of them may be deleted when
 * one ends. Specification and invariants SN1..SN6: docs/spec/snapshots.md.
 */
import type { Checkpoint } from './checkpoint.ts';
import type { SnapshotId, WorkspaceId } from './ids.ts';
import { checkpointsOf, type KeptCheckpoints } from './kept-checkpoints.ts';
import { objectsOf } from './pack-names.ts';

export type PinHolder = `snapshot:${string}` | `workspace:${string}`;

export type Pin = {
  /** The workspace whose objects these are. */
  readonly owner: WorkspaceId;
  readonly holder: PinHolder;
  /** Their names below the workspace's prefix. */
  readonly objects: readonly string[];
};

/** Its holder needs it no more: the janitor deletes the objects that nothing else needs, then the pin. */
export type ReleasedPin = Pin & { readonly releasedAt: number };

/** Pins of a workspace that end in one transaction, beside its record and its remains. */
export const sourcesReleasedMax = 98;

export const snapshotHolder = (id: SnapshotId): PinHolder => `snapshot:${id}`;
export const workspaceHolder = (id: WorkspaceId): PinHolder => `workspace:${id}`;

/** One pin for each workspace that owns something of the checkpoint, which names the owner of its manifest. */
export const pinsFor = (holder: PinHolder, checkpoint: Checkpoint | undefined): readonly Pin[] =>
  checkpoint?.workspace === undefined
    ? []
    : [...objectsOf(checkpoint.workspace, checkpoint)]
        .filter(([owner]) => workspaceHolder(owner) !== holder)
        .map(([owner, objects]) => ({ owner, holder, objects }));

/** The other workspaces whose objects a workspace needs now. */
export const sourcesOf = (id: WorkspaceId, checkpoint: Checkpoint | undefined): readonly WorkspaceId[] =>
  checkpoint === undefined ? [] : [...objectsOf(id, checkpoint).keys()].filter((owner) => owner !== id);

/** The pins that a workspace needs no more since its checkpoints have moved on. */
export const sourcesLeft = (workspace: {
  readonly id: WorkspaceId;
  readonly checkpoint?: Checkpoint;
  readonly kept?: KeptCheckpoints;
  readonly sources?: readonly WorkspaceId[];
}): readonly WorkspaceId[] => {
  const needed = checkpointsOf(workspace).flatMap((checkpoint) => sourcesOf(workspace.id, checkpoint));
  return (workspace.sources ?? []).filter((source) => !needed.includes(source));
};

/** The objects of an ended pin that neither the workspace itself nor another pin needs (SN1). */
export const objectsToDelete = (
  { owner, objects }: Pick<Pin, 'owner' | 'objects'>,
  /** Of the owner, the kept ones included; none when that is deleted or was never saved. */
  checkpoints: readonly Checkpoint[],
  live: readonly Pin[],
): readonly string[] => {
  const needed = new Set([
    ...checkpoints.flatMap((checkpoint) => objectsOf(owner, checkpoint).get(owner) ?? []),
    ...live.flatMap((pin) => pin.objects),
  ]);
  return objects.filter((object) => !needed.has(object));
};
