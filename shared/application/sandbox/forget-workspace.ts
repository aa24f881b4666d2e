/**
 * The end of a deleted workspace: its sandbox stops first, then its saved files are deleted, and its record last,
 * so that the sweep finds it again when a caller dies halfway.
 */

import type { WorkspaceId } from '../../domain/ids.ts';
import { deletionWaitMsMax, logLookMsMax, pinsQuietMs } from '../../domain/limits.ts';
import type { Deps, StopDeps } from '../deps.ts';
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

const pauseMs = 2000;

type ForgetDeps = Deps<'workspaces' | 'archive' | 'world'>;

/**
 * False while the pins are not known: each fork of a snapshot makes one, also on a workspace that was deleted long ago. The
 * remains of the workspace are due, and stay due until its files are deleted (SN3). One that is not deleted keeps its files (SN1).
 */
export const forgetFiles = async (
  { workspaces, archive, world }: ForgetDeps,
  id: WorkspaceId,
): Promise<boolean> => {
  const workspace = await workspaces.get(id);
  if (workspace !== undefined && workspace.deletedAt === undefined) return true;
  const set = await workspaces.settledPins(id, { workspace, at: world.now() });
  if (set === undefined) return false;
  await archive.forget(
    id,
    set.pins.flatMap(({ objects }) => objects),
  );
  return true;
};

/**
 * As above, for one that is deleted now: the last pin may be of a fork a moment ago, and is waited for. Files of which more forks are
 * made concurrently are left to the remains.
 */
export const forgetFilesAtRest = async (ports: ForgetDeps, id: WorkspaceId): Promise<void> => {
  const until = ports.world.now() + 2 * pinsQuietMs;
  while (!(await forgetFiles(ports, id)) && ports.world.now() < until) await ports.world.sleep(pauseMs);
};
