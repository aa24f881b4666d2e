/**
 * The collection of ended pins: objects that nothing needs any more are deleted, then the pin. A janitor that dies in
 * between leaves the pin due, and another one deletes the rest (SN3).
 */

import { checkpointsOf } from '../../domain/kept-checkpoints.ts';
import { pinsQuietMs } from '../../domain/limits.ts';
import { objectsToDelete, type ReleasedPin } from '../../domain/pins.ts';
import type { Deps } from '../deps.ts';

export type CollectDeps = Deps<'workspaces' | 'archive' | 'telemetry' | 'world'>;

/** Postponed while the pins of its workspace are still changing. */
export const collectPin = async (ports: CollectDeps, pin: ReleasedPin): Promise<void> => {
  const { workspaces, archive, telemetry, world } = ports;
  const at = world.now();
  await workspaces.postponePin(pin, at + pinsQuietMs);
  const workspace = await workspaces.get(pin.owner);
  const set = await workspaces.settledPins(pin.owner, { workspace, at });
  if (set === undefined) return;
  const objects = objectsToDelete(pin, workspace === undefined ? [] : checkpointsOf(workspace), set.pins);
  if (objects.length > 0) await archive.remove(pin.owner, objects);
  await workspaces.removePin(pin, set);
  const { owner: workspaceId, holder } = pin;
  telemetry.info('an ended pin was collected', {
    event: 'pin_collected',
    workspaceId,
    holder,
    objects: objects.length,
  });
};
