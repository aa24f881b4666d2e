/**
 * The fate of objects that a checkpoint made obsolete. Those that kept checkpoints of the workspace need are held for now;
 * those that pins of snapshots and forks name stay. A workspace without pins costs no additional call.
 */

import { heldObjects } from '../../domain/kept-checkpoints.ts';
import type { Workspace } from '../../domain/sandbox.ts';
import type { ObsoleteObjects } from '../../ports/workspace-archive.ts';
import type { Deps } from '../deps.ts';

/** With more names nothing is deleted: they would not fit into one request. */
const keptObjectsMax = 20_000;

/** `workspace` as it was read with the checkpoint that the save is based on. */
export const obsoleteObjects = async (
  { workspaces, world }: Deps<'workspaces' | 'world'>,
  workspace: Workspace,
): Promise<ObsoleteObjects | undefined> => {
  const held = heldObjects(workspace);
  if (workspace.isPinned === undefined) return held.length === 0 ? undefined : { kept: [], held };
  const set = await workspaces.settledPins(workspace.id, { workspace, at: world.now() });
  if (set === undefined) return 'later';
  const kept = [...new Set(set.pins.flatMap(({ objects }) => objects))];
  return kept.length > keptObjectsMax ? 'later' : { kept, held };
};
