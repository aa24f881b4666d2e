/**
 * Remains of deleted workspaces, until nothing is left of them (SN3). If the record of a workspace still exists, its deletion
 * stopped half way and is finished here. If not, a save or a restore that was under way when its files were deleted has ended
 * by now, so what it wrote is deleted, too. A janitor that dies in between leaves the remains due. So does one that finds pins
 * that are still being made.
 */

import { stopRetryMs } from '../../domain/limits.ts';
import type { Workspace } from '../../domain/sandbox.ts';
import type { Remains } from '../../ports/remains.ts';
import type { StopDeps } from '../deps.ts';
import { forgetFiles } from '../sandbox/forget-workspace.ts';
import { requestStop } from '../sandbox/stop-sandbox.ts';

export const forgetRemains = async (ports: StopDeps, remains: Remains): Promise<void> => {
  const { workspaces, world } = ports;
  const claimed = await workspaces.postponeRemains(remains, world.now() + stopRetryMs);
  if (claimed === undefined) return;
  const left = await workspaces.get(claimed.id);
  if (left?.deletedAt !== undefined) await finishDeletion(ports, left);
  else if (await forgetFiles(ports, claimed.id)) await workspaces.removeRemains(claimed);
};

/** Waits for nothing: a sandbox that stops is due itself. The end of the record puts off the remains once more. */
const finishDeletion = async (ports: StopDeps, deleted: Workspace): Promise<void> => {
  const { id, sandbox } = deleted;
  if (sandbox !== undefined && sandbox.state !== 'stopped')
    await requestStop(ports, deleted, { reason: 'the workspace was deleted' });
  else if (await forgetFiles(ports, id)) await ports.workspaces.remove(id, ports.world.now());
};
