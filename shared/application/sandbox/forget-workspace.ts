/**
 * The end of a deleted workspace: its sandbox stops first, then its saved files are deleted, and its record last,
 * so that the sweep finds it again when a caller dies halfway.
 */

import type { WorkspaceId } from '../../domain/ids.ts';
import { deletionWaitMsMax, logLookMsMax } from '../../domain/limits.ts';
import type { StopDeps } from '../deps.ts';
import { forgetFilesAtRest } from './forget-files.ts';
import { finishStop, requestStop } from './stop-sandbox.ts';

/** False when it is in use, or has only just been made. Throws while its sandbox runs, to be retried. */
export const forgetWorkspace = async (ports: StopDeps, id: WorkspaceId): Promise<boolean> => {
  const { workspaces, world } = ports;
  const until = world.now() + deletionWaitMsMax;
  for (;;) {
    const workspace = await workspaces.get(id);
    if (workspace !== undefined && workspace.deletedAt === undefined) return false;
    const state = workspace?.sandbox?.state;
    if (workspace === undefined || state === undefined || state === 'stopped') break;
    if (world.now() > until) throw new Error(`the sandbox of the deleted workspace ${id} still runs`);
    if (state === 'stopping') await finishStop(ports, workspace);
    else await requestStop(ports, workspace, { reason: 'the workspace was deleted' });
    await world.sleep(logLookMsMax);
  }
  await forgetFilesAtRest(ports, id);
  await workspaces.remove(id, world.now());
  return true;
};
