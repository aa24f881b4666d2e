/**
 * Stops a workspace's sandbox, in two phases: marked first, which frees it at once; then, by the janitor,
 * saved and asked of ECS. It is `stopped` only when ECS says so. A stop that fails stays marked and listed,
 * and the janitor asks again (L7).
 */
import { lastSaveTriesMax, orphanAgeMs, stopRetryMs } from '../domain/limits.ts';
import { isPoolSlot } from '../domain/pool.ts';
import type { LiveSandbox, Workspace } from '../domain/sandbox.ts';
import type { Invoker } from '../ports/invoker.ts';
import type { SandboxHost } from '../ports/sandbox-host.ts';
import type { WorkspaceStore } from '../ports/workspace-store.ts';
import type { World } from '../ports/world.ts';
import { type SavePorts, saveWorkspace } from './save-workspace.ts';

export type RequestStopPorts = {
  readonly workspaces: WorkspaceStore;
  readonly invoker: Invoker;
  readonly world: World;
};

/** The first phase; false when there was nothing to stop. */
export const requestStop = async (
  { workspaces, invoker, world }: RequestStopPorts,
  { id, sandbox }: Workspace,
  { reason, correlationId }: { readonly reason: string; readonly correlationId: string },
): Promise<boolean> => {
  if (sandbox === undefined || sandbox.state === 'stopped') return false;
  const at = world.now();
  const stop = { reason, at, dueAt: at + stopRetryMs };
  const marked = await workspaces.markStopping(id, sandbox.generation, stop);
  if (marked === undefined) return false;
  await invoker.stopSandbox(id, correlationId);
  return true;
};

export type FinishStopPorts = SavePorts & { readonly host: Pick<SandboxHost, 'stop'> };

const savePauseMs = 1000;

/** The second phase; does nothing for a sandbox that is not marked. */
export const finishStop = async (ports: FinishStopPorts, workspace: Workspace): Promise<void> => {
  const { id, sandbox } = workspace;
  if (sandbox?.state !== 'stopping') return;
  const { generation, taskArn, address, readyAt } = sandbox;
  const now = ports.world.now();
  // Told again as long as ECS has not confirmed it: this moves the next look.
  await ports.workspaces.postpone(workspace, now + stopRetryMs);
  if (taskArn === undefined) {
    // Whoever asked ECS may still be about to note the task.
    if (now - sandbox.requestedAt > orphanAgeMs)
      await ports.workspaces.markStopped(id, generation, { reason: 'it never started', at: now });
    return;
  }
  if (address !== undefined && readyAt !== undefined && !isPoolSlot(id))
    await saveLast(ports, { workspaceId: id, generation, address, flavor: sandbox.flavor });
  try {
    await ports.host.stop(taskArn, sandbox.stoppedReason ?? 'stopped');
  } catch (error) {
    ports.telemetry.count('SandboxStopsFailed');
    ports.telemetry.warn('a sandbox did not stop and will be asked again', { workspaceId: id, error });
  }
};

/** A sandbox that cannot be saved is stopped all the same: what is lost is told with `savedAt`. */
const saveLast = async (ports: FinishStopPorts, sandbox: LiveSandbox): Promise<void> => {
  for (let attempt = 1; attempt <= lastSaveTriesMax; attempt += 1) {
    const report = await saveWorkspace(ports, sandbox);
    if (report.status === 'saved' || report.code !== 'sandbox_unavailable') return;
    await ports.world.sleep(savePauseMs);
  }
};
