/** Records the confirmed end of a sandbox and its reason, from a task state event or from an answer of ECS. */

import { stopRetryMs } from '../../domain/limits.ts';
import { isPoolEntry } from '../../domain/pool.ts';
import type { Workspace } from '../../domain/sandbox.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { SandboxName } from '../../ports/workspace-store.ts';
import type { TaskDeps } from '../deps.ts';
import { notifySandboxEnd } from './notify-sandbox-end.ts';
import { publishSandboxFailure } from './publish-sandbox-failure.ts';
import { recordStartFailure } from './record-start-failure.ts';

/** Of a sandbox whose task ECS no longer knows, as its sessions read it. */
export const lostReason =
  'it no longer runs, as after a restart of its machine; the next message or call starts a new one with the last saved files';

/** Counted once, however often the event comes. */
export const recordStopped = async (
  ports: TaskDeps,
  { workspaceId, generation }: SandboxName,
  why: string,
): Promise<void> => {
  if (!isPoolEntry(workspaceId)) await publishSandboxFailure(ports, { workspaceId, generation });
  const at = ports.world.now();
  const tellAt = isPoolEntry(workspaceId) ? {} : { tellAt: at + stopRetryMs };
  const stop = { reason: why, at, ...tellAt };
  const stopped = await ports.workspaces.markStopped(workspaceId, generation, stop);
  if (stopped === undefined) return;
  const end = endOf(stopped, why);
  countEnd(ports.telemetry, stopped, end);
  if (isPoolEntry(workspaceId)) return;
  const { reason } = end;
  const text = `sandbox ${generation} stopped: ${reason}`;
  await ports.sandboxLog.append(workspaceId, [{ at, stream: 'lifecycle', text }]);
  await notifySandboxEnd(ports, stopped);
};

/** An end that was not requested: a lost sandbox, or one that never became ready. */
const countEnd = (telemetry: Telemetry, { id: workspaceId, project, sandbox }: Workspace, end: End): void => {
  const { reason, isUnplanned } = end;
  if (sandbox === undefined) return;
  if (isUnplanned && sandbox.readyAt === undefined) {
    recordStartFailure(telemetry, { workspaceId, project, sandbox }, reason);
    return;
  }
  if (isUnplanned) telemetry.count('SandboxesLost');
  const event = isUnplanned ? 'sandbox_lost' : 'sandbox_stopped';
  telemetry.info('a sandbox stopped', { event, workspaceId, generation: sandbox.generation, reason });
};

type End = { readonly reason: string; readonly isUnplanned: boolean };

const endOf = ({ sandbox }: Workspace, why: string): End => ({
  reason: sandbox?.stoppedReason ?? why,
  isUnplanned: sandbox?.stopRequestedAt === undefined,
});
