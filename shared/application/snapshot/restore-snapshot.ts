/**
 * Restores a snapshot: the workspace has its files from now on, and the sandbox with its processes ends. The next call
 * starts a new one. Refused while a call runs in the workspace (SN4).
 */

import { refOf } from '../../domain/checkpoint.ts';
import { restoreCheckUsersMax, stopRetryMs } from '../../domain/limits.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Workspace } from '../../domain/sandbox.ts';
import { isEnded, type Session } from '../../domain/session.ts';
import { type Snapshot, sourceOfSnapshot } from '../../domain/snapshot.ts';
import { pendingWork } from '../../domain/turn/pending-work.ts';
import { AppError } from '../../errors.ts';
import { auditRow, recordAudit } from '../access/audit.ts';
import type { StopDeps } from '../deps.ts';
import { requireActive } from '../sandbox/acquire-with-heartbeat.ts';
import { obsoleteObjects } from '../sandbox/held-objects.ts';
import { callRuns, callsIn, liveSandboxOf } from '../sandbox/sandbox-processes.ts';
import { changesTooOften, raceLost, untilWon } from '../write-race.ts';

type Restore = {
  readonly session: Session;
  readonly principal: Principal;
  /** Of the session's project. */
  readonly snapshot: Snapshot;
};

export const restoreSnapshot = async (ports: StopDeps, restore: Restore): Promise<void> => {
  requireActive(restore.session);
  const restored = await untilWon(() => tryRestore(ports, restore), changesTooOften('the workspace'));
  if (restored.sandbox?.state === 'stopping') await ports.invoker.stopSandbox(restored.id);
};

const tryRestore = async (
  ports: StopDeps,
  { session, principal, snapshot }: Restore,
): Promise<Workspace | typeof raceLost> => {
  const { workspaces, sessions, telemetry, world } = ports;
  const found = await workspaces.get(session.workspace);
  const workspace = found && (await marked(ports, found));
  if (workspace === undefined) return raceLost;
  const users = await sessions.getMany(workspace.users);
  for (const user of users) if (await isBusy(ports, user)) throw callRuns();
  const live = liveSandboxOf(workspace);
  if (live !== undefined && (await callsIn(ports, live)) > 0) throw callRuns();
  const checkpoint = await adopted(ports, workspace, snapshot);
  const { id, project, name } = snapshot;
  const at = world.now();
  const row = auditRow(principal, at, {
    action: 'workspace.restore',
    subject: workspace.id,
    project,
    detail: { sessionId: session.id, snapshotId: id, name },
  });
  const restored = await workspaces.restoreTo(workspace, users, {
    checkpoint: { ...checkpoint, generation: workspace.sandbox?.generation ?? 0 },
    source: sourceOfSnapshot(snapshot),
    reason: `the snapshot ${JSON.stringify(name)} was restored`,
    at,
    dueAt: at + stopRetryMs,
    audits: [row],
  });
  if (restored === undefined) return raceLost;
  recordAudit(telemetry, row);
  telemetry.info('a snapshot was restored', {
    event: 'snapshot_restored',
    workspaceId: workspace.id,
    snapshotId: id,
  });
  return restored;
};

/** So many sessions cannot be checked in one transaction: a caller that uses the sandbox from now on removes the mark. */
const marked = async (
  { workspaces, world }: StopDeps,
  workspace: Workspace,
): Promise<Workspace | undefined> => {
  const { id, users, sandbox } = workspace;
  return users.length > restoreCheckUsersMax && sandbox?.state === 'ready'
    ? workspaces.markIdleCheck(id, sandbox.generation, world.uuid())
    : workspace;
};

/** A call runs in it, or its turn has something to do; a turn that waits for a person has not. */
const isBusy = async ({ turns, world }: StopDeps, session: Session): Promise<boolean> => {
  if (isEnded(session.status)) return false;
  const busyUntil = Math.max(session.lease.until, ...Object.values(session.runningCalls));
  if (busyUntil > world.now()) return true;
  if (session.kind === 'execution' || session.status === 'created') return false;
  const { inbox, turn } = await turns.loadWork(session.id);
  return inbox.length > 0 ? turn.state.kind !== 'deciding' : pendingWork(turn.state).length > 0;
};

/** A manifest of the workspace with the snapshot's contents; the files are as old as the snapshot. */
const adopted = async (ports: StopDeps, workspace: Workspace, snapshot: Snapshot) => {
  const { archive, world } = ports;
  const obsolete = await obsoleteObjects(ports, workspace);
  const outcome = await archive.adopt(workspace.id, {
    id: world.uuid(),
    ...(snapshot.checkpoint === undefined ? {} : { from: refOf(snapshot.checkpoint) }),
    ...(workspace.checkpoint === undefined ? {} : { base: refOf(workspace.checkpoint) }),
    ...(obsolete === undefined ? {} : { obsolete }),
  });
  if (outcome.status === 'refused')
    throw new AppError('internal_error', `the snapshot cannot be restored: ${outcome.reason}`);
  const { manifest, files, bytes, packs } = outcome;
  return { ...manifest, savedAt: snapshot.at, files, bytes, packs };
};
