/**
 * Earlier checkpoints of a workspace that are kept beside the last one, so that a branch of a conversation begins with the files
 * of its time. Of one turn only the last is kept; beyond the limit the oldest goes.
 */
import type { Checkpoint } from './checkpoint.ts';
import type { WorkspaceId } from './ids.ts';
import { objectsOf } from './pack-names.ts';

export const keptCheckpointsMax = 8;

/** The files of a workspace until a time in epoch milliseconds; without a checkpoint there were none. */
type Kept = { readonly checkpoint?: Checkpoint; readonly until: number };

export type KeptCheckpoints = {
  /** Oldest first. */
  readonly states: readonly Kept[];
  /** Epoch milliseconds: files of an earlier time are not known any more. */
  readonly since: number;
};

export type Files = { readonly checkpoint?: Checkpoint; readonly kept?: KeptCheckpoints };

const keptOf = ({ checkpoint, kept }: Files): KeptCheckpoints =>
  kept ?? { states: [], since: checkpoint?.savedAt ?? 0 };

/** The kept ones once another checkpoint follows; `turn` is the one that takes it. */
export const keptAfter = (
  files: Files,
  { turn, at }: { readonly turn?: string | undefined; readonly at: number },
): KeptCheckpoints => {
  const { states, since } = keptOf(files);
  const { checkpoint } = files;
  if (checkpoint?.turn !== undefined && checkpoint.turn === turn) return { states, since };
  const all = [...states, { until: at, ...(checkpoint === undefined ? {} : { checkpoint }) }];
  const dropped = all.slice(0, -keptCheckpointsMax).at(-1);
  return dropped === undefined
    ? { states: all, since }
    : { states: all.slice(-keptCheckpointsMax), since: dropped.until };
};

/** The checkpoint that the workspace had at a time (undefined: it was empty), or `unknown`. */
export const checkpointAt = (files: Files, at: number): Checkpoint | undefined | 'unknown' => {
  const { states, since } = keptOf(files);
  if (at < since) return 'unknown';
  const state = states.find(({ until }) => until > at);
  return state === undefined ? files.checkpoint : state.checkpoint;
};

/** The time from which on the workspace had the files of this checkpoint, its last one or a kept one: of restored files, the restore. */
export const hadSince = (files: Files, { id, savedAt }: Checkpoint): number => {
  const { states, since } = keptOf(files);
  const place = states.findIndex(({ checkpoint }) => checkpoint?.id === id);
  const earlier = place < 0 ? states : states.slice(0, place);
  return Math.max(savedAt, earlier.at(-1)?.until ?? since);
};

/** All checkpoints that the workspace needs. */
export const checkpointsOf = ({ checkpoint, kept }: Files): readonly Checkpoint[] => [
  ...(kept?.states ?? []).flatMap((state) => state.checkpoint ?? []),
  ...(checkpoint === undefined ? [] : [checkpoint]),
];

/** Names of the workspace's own objects that the kept checkpoints need. */
export const heldObjects = (workspace: {
  readonly id: WorkspaceId;
  readonly kept?: KeptCheckpoints;
}): readonly string[] => [
  ...new Set(
    (workspace.kept?.states ?? []).flatMap(({ checkpoint }) =>
      checkpoint === undefined ? [] : (objectsOf(workspace.id, checkpoint).get(workspace.id) ?? []),
    ),
  ),
];
