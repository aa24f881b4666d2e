/**
 * Stops a workspace's sandbox, in two phases: marked first, then asked of ECS; it is `stopped` only when ECS
 * says so. A stop that fails stays marked, and the janitor asks again.
 */
import type { Workspace } from '../domain/sandbox.ts';
import type { SandboxHost } from '../ports/sandbox-host.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import type { WorkspaceStore } from '../ports/workspace-store.ts';
import type { World } from '../ports/world.ts';

export type StopPorts = {
  readonly workspaces: WorkspaceStore;
  readonly host: Pick<SandboxHost, 'stop'>;
  readonly telemetry: Telemetry;
  readonly world: World;
};

export const stopSandbox = async (
  ports: StopPorts,
  { id, sandbox }: Workspace,
  reason: string,
): Promise<void> => {
  if (sandbox === undefined || sandbox.state === 'stopped') return;
  const at = ports.world.now();
  const marked = await ports.workspaces.markStopping(id, sandbox.generation, at);
  const taskArn = marked?.sandbox?.taskArn;
  if (marked === undefined) return;
  if (taskArn === undefined) {
    await ports.workspaces.markStopped(id, sandbox.generation, { reason: 'it never started', at });
    return;
  }
  try {
    await ports.host.stop(taskArn, reason);
  } catch (error) {
    ports.telemetry.warn('a sandbox did not stop and will be asked again', { workspaceId: id, error });
  }
};
