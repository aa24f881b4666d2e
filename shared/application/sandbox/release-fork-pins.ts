/**
 * Removes the pins that a fork no longer needs, because its checkpoint has no content of their workspaces any more. It
 * runs at each stop of the fork's sandbox; the deletion of a fork removes all its pins at once.
 */

import { sourcesLeft } from '../../domain/pins.ts';
import type { Workspace } from '../../domain/sandbox.ts';
import type { Deps } from '../deps.ts';

/** No effect for a workspace that is no fork. A workspace that moves concurrently is settled at its next stop. */
export const releaseForkPins = async (
  { workspaces, world }: Deps<'workspaces' | 'world'>,
  { id, sources }: Workspace,
): Promise<void> => {
  if (sources === undefined) return;
  const workspace = await workspaces.get(id);
  const left = workspace === undefined ? [] : sourcesLeft(workspace);
  if (workspace !== undefined && left.length > 0)
    await workspaces.releaseSources(workspace, left, world.now());
};
