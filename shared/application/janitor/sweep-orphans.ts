/**
 * The orphan sweep: running tasks are compared with the records, both ways.
 *
 * A task of this deployment without a record is stopped (L8); a record whose task does not run is recorded as
 * stopped, and its sessions are informed (L9); a sandbox whose sessions have all ended is stopped once each has left.
 * Young tasks are left alone: their record may not be written yet. A failure, also a record that cannot be read, concerns its own
 * task or workspace only. Costs a List and a Describe per 100 running tasks and a read per live workspace, never a scan.
 */

import type { WorkspaceId } from '../../domain/ids.ts';
import { orphanAgeMs, taskUnseenMsMax } from '../../domain/limits.ts';
import { isPoolEntry, poolEntries } from '../../domain/pool.ts';
import { decodeTaskGroup, type Workspace } from '../../domain/sandbox.ts';
import { isEnded } from '../../domain/session.ts';
import type { HostTask } from '../../ports/sandbox.ts';
import type { SandboxName } from '../../ports/workspace-store.ts';
import type { Deps, TaskDeps } from '../deps.ts';
import { readUsers } from '../sandbox/read-users.ts';
import { lostReason, recordStopped } from '../sandbox/record-stopped.ts';
import { requestStop } from '../sandbox/stop-sandbox.ts';

export type OrphanReport = {
  readonly running: number;
  readonly stopped: number;
  readonly lost: number;
  /** Parts that ended with an error. */
  readonly failed: number;
};

const describedMax = 100;

type OrphanDeps = TaskDeps & Deps<'host'>;

/** Undefined for a part of the sweep that failed: that is logged, and ends no other part. */
type Tried = <Result>(part: () => Promise<Result>) => Promise<Result | undefined>;

type SweepDeps = OrphanDeps & { readonly tried: Tried };

type OrphanSweep = {
  readonly poolSize: number;
  /** A record younger than this, in milliseconds, may have a task that the list does not show yet. */
  readonly unseenMs?: number;
};

export const sweepOrphans = async (
  given: OrphanDeps,
  { poolSize, unseenMs = taskUnseenMsMax }: OrphanSweep,
): Promise<OrphanReport> => {
  let failed = 0;
  const tried: Tried = async (part) => {
    try {
      return await part();
    } catch (error) {
      failed += 1;
      given.telemetry.error('a part of the sweep for orphans failed', { error });
      return undefined;
    }
  };
  const ports = { ...given, tried };
  const seen = new Set<string>();
  let stopped = 0;
  for await (const tasks of ports.host.running()) {
    for (const { taskArn } of tasks) seen.add(taskArn);
    stopped += (await ports.tried(() => sweepTasks(ports, tasks, poolSize))) ?? 0;
  }
  let lost = 0;
  const onUnreadable = (error: unknown): void =>
    ports.telemetry.error('a record of a workspace cannot be read', { error });
  for await (const workspaces of ports.workspaces.live(onUnreadable)) {
    stopped += (await ports.tried(() => sweepUserless(ports, workspaces))) ?? 0;
    lost += await sweepTaskless(ports, workspaces, { seen, unseenMs });
  }
  ports.telemetry.count('SandboxesRunning', seen.size);
  if (stopped > 0) ports.telemetry.count('OrphansStopped', stopped);
  return { running: seen.size, stopped, lost, failed };
};

const sweepTasks = async (
  ports: SweepDeps,
  tasks: readonly HostTask[],
  poolSize: number,
): Promise<number> => {
  const now = ports.world.now();
  const old = tasks.filter(({ createdAt }) => now - createdAt > orphanAgeMs);
  const looked = old.map((task) => ports.tried(async () => ({ task, name: await nameOf(ports, task) })));
  const named = (await Promise.all(looked)).filter((one) => one !== undefined);
  const ids = named.flatMap(({ name }) => (name === undefined ? [] : [name.workspaceId]));
  const unread = new Set<WorkspaceId>();
  const found = await ports.workspaces.getMany(ids, (error, id) => {
    ports.telemetry.error('the record of a running task cannot be read', { error });
    unread.add(id);
  });
  const records = new Map(found.map((record) => [record.id, record]));
  const orphans = named.filter(
    ({ name, task }) =>
      !(name && unread.has(name.workspaceId)) && !isBacked(records, { name, task, poolSize }),
  );
  const stops = orphans.map(({ name, task }) =>
    ports.tried(async () => !(await isClaimedSince(ports, name)) && (await stopOrphan(ports, task))),
  );
  return (await Promise.all(stops)).filter((isStopped) => isStopped === true).length;
};

/** A claim between the two reads leaves the record of the pool entry stopped, as that of an orphan. */
const isClaimedSince = async ({ workspaces }: OrphanDeps, name: SandboxName | undefined): Promise<boolean> =>
  name !== undefined && isPoolEntry(name.workspaceId) && (await workspaces.claimantOf(name)) !== undefined;

/** The record of a claimed warm sandbox's task is its claimant's. */
const nameOf = async ({ workspaces }: OrphanDeps, { group }: HostTask): Promise<SandboxName | undefined> => {
  const name = decodeTaskGroup(group);
  if (name === undefined || !isPoolEntry(name.workspaceId)) return name;
  return (await workspaces.claimantOf(name)) ?? name;
};

type Candidate = {
  readonly name: SandboxName | undefined;
  readonly task: HostTask;
  readonly poolSize: number;
};

const isBacked = (
  records: ReadonlyMap<WorkspaceId, Workspace>,
  { name, task, poolSize }: Candidate,
): boolean => {
  if (name === undefined) return false;
  const { workspaceId, generation } = name;
  const sandbox = records.get(workspaceId)?.sandbox;
  if (sandbox === undefined || sandbox.generation !== generation || sandbox.state === 'stopped') return false;
  if (isPoolEntry(workspaceId) && !poolEntries(poolSize).includes(workspaceId)) return false;
  return sandbox.taskArn === undefined || sandbox.taskArn === task.taskArn;
};

/** False where ECS refuses: it is found again by the next sweep. */
const stopOrphan = async (
  { host, telemetry }: OrphanDeps,
  { taskArn, group }: HostTask,
): Promise<boolean> => {
  const reason = 'no_corresponding_session_mapping';
  try {
    await host.stop(taskArn, reason);
  } catch (error) {
    telemetry.count('SandboxStopsFailed');
    telemetry.warn('a sandbox did not stop, and the stop will be retried', {
      sandbox: taskArn,
      group,
      error,
    });
    return false;
  }
  telemetry.warn('an orphan sandbox is stopped', {
    event: 'orphan_sandbox_cleanup',
    sandbox: taskArn,
    group,
    reason,
  });
  return true;
};

/** Sandboxes whose sessions have all ended or are deleted. */
const sweepUserless = async (ports: SweepDeps, workspaces: readonly Workspace[]): Promise<number> => {
  const now = ports.world.now();
  const old = workspaces.filter(
    ({ id, sandbox }) =>
      !isPoolEntry(id) && sandbox?.state === 'ready' && now - sandbox.requestedAt > orphanAgeMs,
  );
  const { sessions, unread } = await readUsers(ports, old, 'a session of a running sandbox cannot be read');
  const living = sessions.filter(({ status }) => !isEnded(status)).map(({ id }) => id);
  const alive = new Set([...living, ...unread]);
  const orphans = old.filter(({ users }) => !users.some((user) => alive.has(user)));
  let stopped = 0;
  for (const orphan of orphans)
    if ((await ports.tried(() => stopUserless(ports, orphan))) === true) stopped += 1;
  return stopped;
};

const stopUserless = async (ports: SweepDeps, orphan: Workspace): Promise<boolean> => {
  const reason = 'no_corresponding_session_mapping';
  const left = await leftByAll(ports, orphan);
  if (left === undefined || !(await requestStop(ports, left, { reason, only: 'unused' }))) return false;
  ports.telemetry.warn('an orphan sandbox is stopped', {
    event: 'orphan_sandbox_cleanup',
    sandbox: left.sandbox?.taskArn,
    workspaceId: left.id,
    reason,
  });
  return true;
};

/** Minutes after they were read: undefined when one of them is active again, or another session has entered (L5). */
const leftByAll = async ({ workspaces }: OrphanDeps, orphan: Workspace): Promise<Workspace | undefined> => {
  let left: Workspace | undefined = orphan;
  for (const user of orphan.users) {
    left = await workspaces.leave(orphan.id, user);
    if (left === undefined) return undefined;
  }
  return left.users.length > 0 ? undefined : left;
};

/** Records whose task does not run any more: its state event was lost. */
const sweepTaskless = async (
  ports: SweepDeps,
  workspaces: readonly Workspace[],
  { seen, unseenMs }: { readonly seen: ReadonlySet<string>; readonly unseenMs: number },
): Promise<number> => {
  const now = ports.world.now();
  const unseen = workspaces.filter(
    ({ sandbox }) =>
      sandbox?.taskArn !== undefined &&
      sandbox.state !== 'stopped' &&
      !seen.has(sandbox.taskArn) &&
      now - sandbox.requestedAt >= unseenMs,
  );
  let lost = 0;
  for (let from = 0; from < unseen.length; from += describedMax) {
    const page = unseen.slice(from, from + describedMax);
    lost += (await ports.tried(() => recordLost(ports, page))) ?? 0;
  }
  return lost;
};

const recordLost = async (ports: SweepDeps, page: readonly Workspace[]): Promise<number> => {
  const known = await ports.host.describe(page.map(({ sandbox }) => sandbox?.taskArn ?? ''));
  const tasks = new Map(known.map((task) => [task.taskArn, task]));
  let lost = 0;
  for (const { id, sandbox } of page) {
    const task = tasks.get(sandbox?.taskArn ?? '');
    if (sandbox === undefined || (task !== undefined && task.lastStatus !== 'STOPPED')) continue;
    const why = task?.stoppedReason ?? lostReason;
    const { generation } = sandbox;
    const recorded = await ports.tried(async () => {
      await recordStopped(ports, { workspaceId: id, generation }, why);
      return true;
    });
    if (recorded === true) lost += 1;
  }
  return lost;
};
