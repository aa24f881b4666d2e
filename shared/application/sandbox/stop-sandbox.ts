/**
 * Stops a workspace's sandbox, in two phases: marked first, which frees it at once; then the janitor saves it and
 * asks ECS to stop it. It is `stopped` only when ECS confirms it, by an event or by its answer to a repeated request. A stop
 * that fails stays marked and listed, and the janitor repeats it (L7).
 */

import type { WorkspaceId } from '../../domain/ids.ts';
import { lastSaveMsMax, lastSaveTriesMax, orphanAgeMs, stopRetryMs } from '../../domain/limits.ts';
import { isPoolEntry } from '../../domain/pool.ts';
import { isLastSaveOpen, type SandboxRecord, type Workspace } from '../../domain/sandbox.ts';
import type { HostTask } from '../../ports/sandbox.ts';
import type { Deps, StopDeps } from '../deps.ts';
import { recordLastEnds } from './kept-sandbox.ts';
import { recordStopped } from './record-stopped.ts';
import { saveWorkspace } from './save-workspace.ts';
import { settleSources } from './settle-sources.ts';

export type StopRequest = {
  readonly reason: string;
  /** Only one that is still starting, that no session uses, or that has this lifetime, whatever was read. */
  readonly only?: 'starting' | 'unused' | { readonly lifetimeMs: number };
};

/** The first phase; false when there was nothing to stop. */
export const requestStop = async (
  { workspaces, invoker, world }: Deps<'workspaces' | 'invoker' | 'world'>,
  { id, sandbox }: Workspace,
  { reason, only }: StopRequest,
): Promise<boolean> => {
  if (sandbox === undefined || sandbox.state === 'stopped') return false;
  const at = world.now();
  const { slot } = sandbox;
  const stop = {
    ...{ reason, at, dueAt: at + stopRetryMs },
    ...(only === undefined ? {} : { only }),
    ...(slot === undefined ? {} : { slot }),
  };
  const marked = await workspaces.markStopping(id, sandbox.generation, stop);
  if (marked === undefined) return false;
  await invoker.stopSandbox(id);
  return true;
};

/** The second phase; no effect on a sandbox that is not marked. */
export const finishStop = async (ports: StopDeps, workspace: Workspace): Promise<void> => {
  const { id, sandbox } = workspace;
  if (sandbox?.state !== 'stopping') return;
  const { generation, taskArn } = sandbox;
  const now = ports.world.now();
  // Repeated as long as ECS has not confirmed it: this moves the next check.
  await ports.workspaces.postpone(workspace, now + stopRetryMs);
  if (taskArn === undefined) {
    // The caller that called ECS may still be about to record the task.
    if (now - sandbox.requestedAt > orphanAgeMs)
      await ports.workspaces.markStopped(id, generation, { reason: 'it never started', at: now });
    return;
  }
  const saved = await saveLast(ports, id, sandbox);
  if (saved === 'others') return;
  const reason = sandbox.stoppedReason ?? 'stopped';
  await askStop(ports, { id, generation, taskArn, reason, ...saved });
  // Behind the request: what cannot be settled keeps no sandbox.
  await settleSources(ports, workspace);
};

type LastSave = {
  /** The claim under which it was made. */
  readonly until?: number;
  readonly isUnsaved?: true;
};

/**
 * A save that fails is published with `savedAt`, and the sandbox stopped all the same. `others` while another caller
 * saves it.
 */
const saveLast = async (
  ports: StopDeps,
  id: WorkspaceId,
  record: SandboxRecord,
): Promise<LastSave | 'others'> => {
  const { generation, address, flavor } = record;
  if (address === undefined || !isLastSaveOpen(record) || isPoolEntry(id)) return {};
  const at = ports.world.now();
  const until = at + lastSaveMsMax;
  if (!(await ports.workspaces.claimLastSave(id, generation, { at, until }))) return 'others';
  try {
    await recordLastEnds(ports, { id, sandbox: record });
    const { status } = await saveWorkspace(
      ports,
      { workspaceId: id, generation, address, flavor },
      { triesMax: lastSaveTriesMax },
    );
    return { until, ...(status === 'failed' ? { isUnsaved: true } : {}) };
  } catch (error) {
    await ports.workspaces.unclaimLastSave(id, generation, until);
    throw error;
  }
};

type Stopping = LastSave & {
  readonly id: WorkspaceId;
  readonly generation: number;
  readonly taskArn: string;
  readonly reason: string;
};

const askStop = async (
  ports: StopDeps,
  { id, generation, taskArn, reason, until, ...saved }: Stopping,
): Promise<void> => {
  const { workspaces, world } = ports;
  const asked = await requestTaskStop(ports, { id, taskArn, reason });
  if (asked === 'refused') {
    if (until !== undefined) await workspaces.unclaimLastSave(id, generation, until);
    return;
  }
  await workspaces.recordStopRequest(id, generation, { at: world.now(), ...saved });
  // The event that it stopped was lost, or comes late.
  if (asked?.lastStatus === 'STOPPED')
    await recordStopped(ports, { workspaceId: id, generation }, asked.stoppedReason ?? reason);
};

const requestTaskStop = async (
  { host, telemetry }: StopDeps,
  { id, taskArn, reason }: Pick<Stopping, 'id' | 'taskArn' | 'reason'>,
): Promise<HostTask | 'refused' | undefined> => {
  try {
    return await host.stop(taskArn, reason);
  } catch (error) {
    telemetry.count('SandboxStopsFailed');
    telemetry.warn('a sandbox did not stop, and the stop will be retried', { workspaceId: id, error });
    return 'refused';
  }
};
