/**
 * Records an ECS task state event: the address of a running task, that it is about to stop, and that it stopped, with the
 * reason.
 *
 * Events come at least once and in any order; each transition is conditional on the generation, so that a late or repeated one
 * changes nothing. A warm sandbox's task keeps its pool entry's name, so its claimant is looked up. An event may be late or
 * lost: a caller that waits for a start asks ECS itself from time to time (`openLocator`).
 */

import { locateEveryMs } from '../../domain/limits.ts';
import { isPoolEntry } from '../../domain/pool.ts';
import { decodeTaskGroup, type Workspace } from '../../domain/sandbox.ts';
import type { SandboxName } from '../../ports/workspace-store.ts';
import type { StopDeps, TaskDeps } from '../deps.ts';
import { recordStopped } from './record-stopped.ts';
import { requestStop } from './stop-sandbox.ts';

export type TaskEvent = {
  readonly taskArn: string;
  readonly group: string;
  readonly lastStatus: string;
  readonly desiredStatus: string;
  /** The private address and port of its server, once it has one. */
  readonly address?: string;
  readonly stoppedReason?: string;
};

export const recordTaskEvent = async (ports: TaskDeps, event: TaskEvent): Promise<void> => {
  const named = decodeTaskGroup(event.group);
  if (named === undefined) return;
  if (!isPoolEntry(named.workspaceId)) return recordFor(ports, named, event);
  const claimant = await ports.workspaces.claimantOf(named);
  await recordFor(ports, claimant ?? named, event);
  if (claimant !== undefined || !isEnding(event)) return;
  // The entry is marked now, so that no claim can follow; one that came before is known by now.
  const late = await ports.workspaces.claimantOf(named);
  if (late !== undefined) await recordFor(ports, late, event);
};

const isEnding = ({ lastStatus, desiredStatus }: TaskEvent): boolean =>
  lastStatus === 'STOPPED' || desiredStatus === 'STOPPED';

const recordFor = async (ports: TaskDeps, task: SandboxName, event: TaskEvent): Promise<void> => {
  if (!isEnding(event)) return event.lastStatus === 'RUNNING' ? recordRunning(ports, task, event) : undefined;
  const workspace = await ports.workspaces.get(task.workspaceId);
  if (workspace === undefined || isOfAnother(workspace, task, event)) return;
  if (event.lastStatus === 'STOPPED')
    return recordStopped(ports, task, event.stoppedReason ?? 'the task stopped');
  await recordStopping(ports, workspace, { task, event });
};

/** A second task under the same name is an orphan: its events do not concern the sandbox. */
const isOfAnother = ({ sandbox }: Workspace, { generation }: SandboxName, { taskArn }: TaskEvent): boolean =>
  sandbox?.generation === generation && sandbox.taskArn !== undefined && sandbox.taskArn !== taskArn;

const recordRunning = async (
  { workspaces, world }: TaskDeps,
  { workspaceId, generation }: SandboxName,
  { taskArn, address }: TaskEvent,
): Promise<void> => {
  if (address === undefined) return;
  if (!(await workspaces.recordAddress(workspaceId, generation, { taskArn, address }))) {
    // A stopping sandbox may learn its task only here, and needs it to be stopped.
    await workspaces.recordTask(workspaceId, generation, taskArn);
    return;
  }
  // No caller waits for a pool entry: its claimant checks that it answers.
  if (isPoolEntry(workspaceId)) await workspaces.markReady(workspaceId, generation, { at: world.now() });
};

type StoppingTask = {
  readonly task: SandboxName;
  readonly event: TaskEvent;
};

/** ECS stops the task: its files are saved while it still answers. */
const recordStopping = async (
  ports: TaskDeps,
  workspace: Workspace,
  { task, event }: StoppingTask,
): Promise<void> => {
  const { sandbox } = workspace;
  if (sandbox?.generation !== task.generation || sandbox.state === 'stopping') return;
  const reason = event.stoppedReason ?? 'ECS stops the task';
  await requestStop(ports, workspace, { reason });
};

export type Locator = (taskArn: string) => Promise<void>;

/** One for each waiting caller: concurrent waiters ask seldom each, and one that gets no answer asks again. */
export const openLocator = (ports: StopDeps): Locator => {
  let askedAt = Number.NEGATIVE_INFINITY;
  return async (taskArn) => {
    const now = ports.world.now();
    if (now - askedAt < locateEveryMs) return;
    askedAt = now;
    try {
      const [task] = await ports.host.describe([taskArn]);
      if (task !== undefined) await recordTaskEvent(ports, { ...task, desiredStatus: 'RUNNING' });
    } catch (error) {
      ports.telemetry.warn('a sandbox that starts was not located', { taskArn, error });
    }
  };
};
