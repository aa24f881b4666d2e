/**
 * Stops a workspace's sandbox, in two phases: marked first, which frees it at once; then the janitor saves it and
 * asks ECS to stop it. It is `stopped` only when ECS confirms it, by an event or by its answer to a repeated request. A stop
 * that fails stays marked and listed, and the janitor repeats it (L7).
 */

import type { WorkspaceId } from '../../domain/ids.ts';
import { lastSaveMsMax, lastSaveTriesMax, orphanAgeMs, stopRetryMs } from '../../domain/limits.ts';
import { sourcesLeft } from '../../domain/pins.ts';
import { isPoolEntry } from '../../domain/pool.ts';
import { isLastSaveOpen, type SandboxRecord, type Workspace } from '../../domain/sandbox.ts';
import type { HostTask } from '../../ports/sandbox.ts';
import type { Deps, StopDeps } from '../deps.ts';
import { recordLastEnds } from './kept-by-processes.ts';
import { recordStopped } from './record-stopped.ts';
import { saveWorkspace } from './save-workspace.ts';

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
    const end = { reason: 'it never started', at: now, only: 'unplaced' } as const;
    if (now - sandbox.requestedAt > orphanAgeMs) await ports.workspaces.markStopped(id, generation, end);
    return;
  }
  const reason = sandbox.stoppedReason ?? 'stopped';
  if (sandbox.taskStopRequestedAt !== undefined) await askStop(ports, { id, generation, taskArn, reason });
  else {
    const recordedAt = await concludeFiles(ports, id, sandbox);
    if (recordedAt === undefined) return;
    await askStop(ports, { id, generation, taskArn, reason, recordedAt });
  }
  // Behind the request: what cannot be settled keeps no sandbox.
  await releaseForkPins(ports, workspace);
};

/**
 * Saves it for the last time, and records that before ECS is asked: one that ends before the answer was not lost. The time
 * recorded; undefined while another caller saves it.
 */
const concludeFiles = async (
  ports: StopDeps,
  id: WorkspaceId,
  record: SandboxRecord,
): Promise<number | undefined> => {
  const { workspaces, world } = ports;
  const { generation, address, flavor } = record;
  const conclude = async (outcome: { readonly isUnsaved?: true }): Promise<number> => {
    const at = world.now();
    await workspaces.recordStopRequest(id, generation, { at, ...outcome });
    return at;
  };
  if (address === undefined || !isLastSaveOpen(record) || isPoolEntry(id)) return conclude({});
  const at = world.now();
  const until = at + lastSaveMsMax;
  if (!(await workspaces.claimLastSave(id, generation, { at, until }))) return undefined;
  try {
    await recordLastEnds(ports, { id, sandbox: record });
    const live = { workspaceId: id, generation, address, flavor };
    // A save that fails is published with `savedAt`, and the sandbox stopped all the same.
    const { status } = await saveWorkspace(ports, live, { triesMax: lastSaveTriesMax });
    return await conclude(status === 'failed' ? { isUnsaved: true } : {});
  } catch (error) {
    await workspaces.unclaimLastSave(id, generation, until);
    throw error;
  }
};

type Stopping = {
  readonly id: WorkspaceId;
  readonly generation: number;
  readonly taskArn: string;
  readonly reason: string;
  /** Absent: recorded by an earlier request. */
  readonly recordedAt?: number;
};

const askStop = async (
  ports: StopDeps,
  { id, generation, taskArn, reason, recordedAt }: Stopping,
): Promise<void> => {
  const { workspaces, world } = ports;
  const asked = await requestTaskStop(ports, { id, taskArn, reason });
  if (asked === 'refused') {
    // It still runs, and is saved again; unless it was asked to stop again since.
    if (recordedAt !== undefined && world.now() - recordedAt < stopRetryMs)
      await workspaces.withdrawStopRequest(id, generation, recordedAt);
    return;
  }
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

/**
 * Removes the pins that a fork no longer needs, because its checkpoint has no content of their workspaces any more; the deletion of a
 * fork removes all its pins at once. No effect for a workspace that is no fork. One that moves concurrently is settled at its next stop.
 */
const releaseForkPins = async (
  { workspaces, world }: Deps<'workspaces' | 'world'>,
  { id, sources }: Workspace,
): Promise<void> => {
  if (sources === undefined) return;
  const workspace = await workspaces.get(id);
  const left = workspace === undefined ? [] : sourcesLeft(workspace);
  if (workspace !== undefined && left.length > 0)
    await workspaces.releaseSources(workspace, left, world.now());
};
