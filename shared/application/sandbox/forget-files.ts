/** Deletes the saved files of a deleted workspace, but for those that snapshots and forks still need. */

import type { WorkspaceId } from '../../domain/ids.ts';
import type { Deps } from '../deps.ts';

/**
 * False while the pins are not known: each fork of a snapshot makes one, also on a workspace that was deleted long ago. Nobody
 * waits for that: the remains of the workspace are due, and stay due until its files are deleted (SN3).
 */
export const forgetFiles = async (
  { workspaces, archive, world }: Deps<'workspaces' | 'archive' | 'world'>,
  id: WorkspaceId,
): Promise<boolean> => {
  const workspace = await workspaces.get(id);
  const set = await workspaces.settledPins(id, { workspace, at: world.now() });
  if (set === undefined) return false;
  await archive.forget(
    id,
    set.pins.flatMap(({ objects }) => objects),
  );
  return true;
};
