/**
 * Waits for the last save of a sandbox that is being stopped: until then the state of its files is unknown. The janitor makes
 * that save, since only it may stop tasks; it is asked again now and then, and not waited for longer than one may take.
 */

import type { WorkspaceId } from '../../domain/ids.ts';
import { lastSaveMsMax, stopRetryMs } from '../../domain/limits.ts';
import { isLastSaveOpen, type Workspace } from '../../domain/sandbox.ts';
import type { StopDeps } from '../deps.ts';

const lookMs = 1000;

/** The workspace after it; undefined when there is none. A sandbox that no caller stops is not waited for. */
export const afterLastSave = async (
  { workspaces, invoker, world }: StopDeps,
  id: WorkspaceId,
): Promise<Workspace | undefined> => {
  const until = world.now() + lastSaveMsMax;
  let askedAt = Number.NEGATIVE_INFINITY;
  for (;;) {
    const workspace = await workspaces.get(id);
    const now = world.now();
    if (workspace?.sandbox === undefined || !isLastSaveOpen(workspace.sandbox) || now >= until)
      return workspace;
    if (now - askedAt >= stopRetryMs) {
      askedAt = now;
      await invoker.stopSandbox(id);
    }
    await world.sleep(lookMs);
  }
};
