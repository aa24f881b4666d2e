/**
 * The janitor's sweep: all sessions and workspaces that are due, and nothing else.
 *
 * Safe to run concurrently: each session is claimed by one conditional write, and every later write is
 * conditional again (L6). One failure does not end a sweep: the item stays due and comes again.
 */

import { orphanAgeMs, sandboxLookMs, sandboxStartMsMax, stopRetryMs } from '../../domain/limits.ts';
import type { Workspace } from '../../domain/sandbox.ts';
import { isEnded, type Session, type Stall } from '../../domain/session.ts';
import {
  isAsRead,
  isResting,
  isStalled,
  type Lifetimes,
  nextStall,
  type SessionWork,
  sweepStep,
} from '../../domain/session-sweep.ts';
import { pendingWork } from '../../domain/turn/pending-work.ts';
import type { Deps, StopDeps } from '../deps.ts';
import { publishSandboxFailure } from '../sandbox/publish-sandbox-failure.ts';
import { recordStartFailure } from '../sandbox/record-start-failure.ts';
import { finishStop, requestStop } from '../sandbox/stop-sandbox.ts';
import { forgetSession } from '../session/forget-session.ts';
import { endSession, leaveBehind } from '../turn/requests/end-session.ts';
import { failTurn } from '../turn/requests/fail-turn.ts';

export type SweepDeps = StopDeps & Deps<'callers'>;

export type SweepSettings = { readonly lifetimes: Lifetimes; readonly correlationId: string };

export type SweepReport = { readonly due: number; readonly failed: number };

const itemsMax = 100;

export const sweep = async (ports: SweepDeps, settings: SweepSettings): Promise<SweepReport> => {
  const now = ports.world.now();
  let unreadable = 0;
  const onUnreadable = (error: unknown): void => {
    unreadable += 1;
    ports.telemetry.error('a due record cannot be read', { error });
  };
  const [sessions, workspaces] = await Promise.all([
    ports.sessions.due(now, itemsMax, onUnreadable),
    ports.workspaces.due(now, itemsMax, onUnreadable),
  ]);
  const results = await Promise.allSettled([
    ...sessions.map(async (session) => {
      if (!(await removedAsUnused(ports, session))) await sweepSession(ports, session, settings);
    }),
    ...workspaces.map((workspace) => sweepWorkspace(ports, workspace, settings)),
  ]);
  const failures = results.filter((result) => result.status === 'rejected');
  for (const { reason } of failures) ports.telemetry.error('a due item was not swept', { error: reason });
  const due = sessions.length + workspaces.length + unreadable;
  ports.telemetry.count('SweepDue', due);
  return { due, failed: failures.length + unreadable };
};

const sweepSession = async (ports: StopDeps, session: Session, settings: SweepSettings): Promise<void> => {
  const { lifetimes, correlationId } = settings;
  const now = ports.world.now();
  const { work, version } = await workOf(ports, session);
  const step = sweepStep(session, work, { now, lifetimes });
  switch (step.step) {
    case 'drive': {
      const stall = work === 'own' ? nextStall(session, version, now) : undefined;
      return drive(ports, session, { ...settings, stall, rests: step.rests });
    }
    case 'wait':
      if (isEnded(session.status))
        await leaveBehind(ports, session, { reason: 'the session ended', correlationId });
      await ports.sessions.postpone(session, step.until);
      return;
    case 'rest':
      if (!(await ports.sessions.postpone(session, now + stopRetryMs))) return;
      if (await restSandbox(ports, session, settings))
        await ports.sessions.postpone({ ...session, dueAt: now + stopRetryMs }, step.next);
      return;
    case 'end': {
      const ending = { reason: 'idle', correlationId, lifetimes, unlessMoved: true };
      if (await endSession(ports, session, ending)) {
        ports.telemetry.count('SessionsReaped');
        ports.telemetry.info('an idle session was ended', { event: 'session_reaped', sessionId: session.id });
      }
      return;
    }
    case 'forget':
      if (await ports.sessions.postpone(session, now + orphanAgeMs))
        await forgetSession({ ...ports, forgetFiles: ports.archive.forget }, session, correlationId);
  }
};

type Drive = SweepSettings & { readonly stall: Stall | undefined; readonly rests: boolean };

/** Has the turn continued, or ends it when that was tried in vain. */
const drive = async (
  ports: StopDeps,
  session: Session,
  { stall, rests, ...settings }: Drive,
): Promise<void> => {
  const { correlationId } = settings;
  const now = ports.world.now();
  if (!(await ports.sessions.postpone(session, now + stopRetryMs, stall))) return;
  if (rests) await restSandbox(ports, session, settings);
  if (stall !== undefined && isStalled(stall, session, now))
    return failTurn(ports, session.id, { version: stall.version, correlationId });
  return ports.invoker.runTurn(session.id, correlationId);
};

/** Removes a session that a connection alone made, without a message, once its last connection has closed. */
const removedAsUnused = async (
  { sessions, connections, callers }: SweepDeps,
  session: Session,
): Promise<boolean> => {
  if (session.isFleeting === undefined || session.status !== 'created') return false;
  const subscribers = await connections.subscribers(session.id);
  if (subscribers.length > 0) return false;
  // The connections that offered these have closed.
  for (const { callerId, connectionId } of await callers.list(session.id))
    if (connectionId !== undefined) await callers.withdraw(session.id, callerId, connectionId);
  return sessions.removeUnused(session);
};

type TurnWork = { readonly work: SessionWork; readonly version: number };

const workOf = async ({ turns }: StopDeps, { id, status, kind }: Session): Promise<TurnWork> => {
  if (kind === 'execution' || isEnded(status) || status === 'created') return { work: 'none', version: 0 };
  const {
    inbox,
    turn: { state, version },
  } = await turns.loadWork(id);
  if (inbox.length === 0 || state.kind === 'deciding') return { work: 'none', version };
  const waits = state.kind === 'acting' && pendingWork(state).length === 0;
  return { work: waits ? 'others' : 'own', version };
};

/**
 * Releases the sandbox of a workspace whose sessions are all idle, unless one of them becomes active
 * concurrently. False for one that is still starting: it is checked again soon, or it would run until its session
 * is deleted.
 */
const restSandbox = async (
  ports: StopDeps,
  session: Session,
  { lifetimes, correlationId }: SweepSettings,
): Promise<boolean> => {
  const { workspace: workspaceId } = session;
  const workspace = await ports.workspaces.get(workspaceId);
  if (workspace?.sandbox?.state !== 'ready') return workspace?.sandbox?.state !== 'starting';
  const users = await ports.sessions.getMany(workspace.users);
  const at = ports.world.now();
  // One that became active may have work again, which only its turn knows.
  const isOfOthersOrAsRead = (user: Session): boolean => user.id !== session.id || isAsRead(user, session);
  if (!users.every((user) => isOfOthersOrAsRead(user) && isResting(user, at, lifetimes))) return true;
  // Another session's function may have died halfway: its sandbox waits for the next one (L5).
  const others = users.filter(({ id }) => id !== session.id);
  const works = await Promise.all(others.map((user) => workOf(ports, user)));
  if (works.some(({ work }) => work === 'own')) return true;
  const stop = { reason: 'idle', at, dueAt: at + stopRetryMs };
  if ((await ports.workspaces.markIdle(workspace, users, stop)) === undefined) return true;
  ports.telemetry.info('an idle sandbox is stopped', { event: 'sandbox_rested', workspaceId });
  await ports.invoker.stopSandbox(workspaceId, correlationId);
  return true;
};

const sweepWorkspace = async (
  ports: StopDeps,
  workspace: Workspace,
  { correlationId }: SweepSettings,
): Promise<void> => {
  switch (workspace.sandbox?.state) {
    case 'starting': {
      const { id: workspaceId, project, sandbox } = workspace;
      const reason = 'it took too long to start';
      if (ports.world.now() - sandbox.requestedAt >= sandboxStartMsMax)
        await publishSandboxFailure(ports, { workspaceId, generation: sandbox.generation });
      // The index may be late: one that is ready by now, or is being restored, stays.
      if (await requestStop(ports, workspace, { reason, correlationId, only: 'starting' }))
        recordStartFailure(ports.telemetry, { workspaceId, project, sandbox }, reason);
      return;
    }
    case 'stopping':
      return finishStop(ports, workspace);
    case 'ready':
      await ports.workspaces.postpone(workspace, ports.world.now() + sandboxLookMs);
      return;
    case 'stopped':
    case undefined:
      // The index was late: it is no longer due.
      return;
  }
};
