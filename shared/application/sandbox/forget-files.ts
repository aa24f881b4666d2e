/** Deletes the saved files of a deleted workspace, but for those that snapshots and forks still need. */

import type { WorkspaceId } from '../../domain/ids.ts';
import { pinsQuietMs } from '../../domain/limits.ts';
import type { Deps } from '../deps.ts';

const pauseMs = 2000;

/** Throws while pins are still being made, to be retried: later none can be. */
export const forgetFiles = async (
  { workspaces, archive, world }: Deps<'workspaces' | 'archive' | 'world'>,
  id: WorkspaceId,
): Promise<void> => {
  const until = world.now() + 2 * pinsQuietMs;
  for (;;) {
    const workspace = await workspaces.get(id);
    const set = await workspaces.settledPins(id, { workspace, at: world.now() });
    if (set !== undefined)
      return archive.forget(
        id,
        set.pins.flatMap(({ objects }) => objects),
      );
    if (world.now() > until) throw new Error(`the pins of the deleted workspace ${id} are still changing`);
    await world.sleep(pauseMs);
  }
};
