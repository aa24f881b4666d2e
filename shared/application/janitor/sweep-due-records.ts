/**
 * The records that are due, each with the janitor's action: sessions, workspaces, ended pins and remains.
 *
 * Safe to run concurrently: each session is claimed by one conditional write, and every later write is conditional again (L6).
 * One failure does not end a sweep: the item stays due and comes again.
 */

import { type Lifetimes, pausedUntil } from '../../domain/idle-time.ts';
import {
  orphanAgeMs,
  sandboxLookMs,
  sandboxMeterLookMs,
  sandboxStartMsMax,
  stopRetryMs,
  trialLookMs,
  trialWatchMs,
} from '../../domain/limits.ts';
import { lifetimeEnd, type SandboxRecord, type Workspace } from '../../domain/sandbox.ts';
import { usedUpAt } from '../../domain/sandbox-meter.ts';
import { isEnded, type Session, type Stall } from '../../domain/session.ts';
import { isStalled, nextStall, sweepStep } from '../../domain/session-sweep.ts';
import { endedIfOpenedBefore, isUnused } from '../../domain/unused-session.ts';
import type { Deps, StopDeps } from '../deps.ts';
import { forgetFilesAtRest } from '../sandbox/forget-workspace.ts';
import { notifySandboxEnd } from '../sandbox/notify-sandbox-end.ts';
import { publishSandboxFailure } from '../sandbox/publish-sandbox-failure.ts';
import { recordStartFailure } from '../sandbox/record-start-failure.ts';
import { finishStop, requestStop, type StopRequest } from '../sandbox/stop-sandbox.ts';
import { markPaused } from '../sandbox/take-idle-sandbox.ts';
import { workOf } from '../sandbox/turn-work.ts';
import { forgetSession } from '../session/forget-session.ts';
import { endSession, leaveBehind } from '../turn/requests/end-session.ts';
import { failTurn } from '../turn/requests/fail-turn.ts';
import { trialUse } from '../turn/trial/trial-session.ts';
import { collectPin } from './collect-pins.ts';
import { forgetRemains } from './forget-remains.ts';
import { openIdleStops, type Rest, stopIdleSandbox } from './stop-idle-sandbox.ts';

export type SweepDeps = StopDeps & Deps<'callers' | 'trees'>;

export type SweepSettings = { readonly lifetimes: Lifetimes };

/** A due record, as it was read. */
export type DueItem = {
  /** Different as soon as the record has moved. */
  readonly key: string;
  readonly sweep: () => Promise<void>;
  readonly putOff: (dueAt: number) => Promise<unknown>;
};

/** Reads what is due by now, oldest first: at most so many of each kind. */
export const openDueReader = (
  ports: SweepDeps,
  settings: SweepSettings,
): ((itemsMax: number, onUnreadable: (error: unknown) => void) => Promise<readonly DueItem[]>) => {
  const rest = openIdleStops(ports, settings);
  const { sessions, workspaces } = ports;
  const sweepOne = async (session: Session): Promise<void> => {
    if (!(await removedAsUnused(ports, session))) await sweepSession(ports, session, { ...settings, rest });
  };
  return async (itemsMax, onUnreadable) => {
    const now = ports.world.now();
    const due = await Promise.all([
      sessions.due(now, itemsMax, onUnreadable),
      workspaces.due(now, itemsMax, onUnreadable),
      workspaces.duePins(now, itemsMax, onUnreadable),
      workspaces.dueRemains(now, itemsMax, onUnreadable),
    ]);
    return [
      ...due[0].map((session) => ({
        key: `session ${session.id} ${session.dueAt}`,
        sweep: () => sweepOne(session),
        putOff: (dueAt: number) => sessions.postpone(session, dueAt),
      })),
      ...due[1].map((workspace) => ({
        key: `workspace ${workspace.id} ${workspace.sandbox?.generation} ${workspace.sandbox?.state}`,
        sweep: () => sweepWorkspace(ports, workspace, settings),
        putOff: (dueAt: number) => workspaces.postpone(workspace, dueAt),
      })),
      ...due[2].map((pin) => ({
        key: `pin ${pin.owner} ${pin.holder}`,
        sweep: () => collectPin(ports, pin),
        putOff: (dueAt: number) => workspaces.postponePin(pin, dueAt),
      })),
      ...due[3].map((remains) => ({
        key: `remains ${remains.id} ${remains.dueAt}`,
        sweep: () => forgetRemains(ports, remains),
        putOff: (dueAt: number) => workspaces.postponeRemains(remains, dueAt),
      })),
    ];
  };
};

type SessionSweep = SweepSettings & { readonly rest: Rest };

const sessionEnded = { reason: 'the session ended' };

const sweepSession = async (ports: StopDeps, session: Session, settings: SessionSweep): Promise<void> => {
  const { lifetimes, rest } = settings;
  const now = ports.world.now();
  if (session.trialOf !== undefined) return sweepTrial(ports, session, settings);
  const { work, version } = await workOf(ports, session);
  const step = sweepStep(session, work, { now, lifetimes });
  switch (step.step) {
    case 'drive': {
      const stall = work === 'own' ? nextStall(session, version, now) : undefined;
      return drive(ports, session, { ...settings, stall, rests: step.rests });
    }
    case 'wait':
      if (isEnded(session.status)) await leaveBehind(ports, session, sessionEnded);
      await ports.sessions.postpone(session, step.until);
      return;
    case 'rest':
      return restUntil(ports, session, { rest, next: step.next });
    case 'pause':
      return pauseIdle(ports, session, settings);
    case 'end':
      return endIdle(ports, session, settings);
    case 'forget':
      return forget(ports, session);
  }
};

/** It ends once no turn tries its call in it; its files are kept for as long as the call can be decided. */
const sweepTrial = async (ports: StopDeps, session: Session, { lifetimes }: SweepSettings): Promise<void> => {
  const now = ports.world.now();
  const use = await trialUse(ports, session);
  if (!isEnded(session.status)) {
    if (use === 'running') await ports.sessions.postpone(session, now + trialWatchMs);
    else await endSession(ports, session, { reason: 'its call is no longer tried' });
    return;
  }
  if (use !== 'kept') return forget(ports, session);
  await leaveBehind(ports, session, sessionEnded);
  await ports.sessions.postpone(
    session,
    Math.max(session.lastActiveAt + lifetimes.historyMs, now + trialLookMs),
  );
};

const forget = async (ports: StopDeps, session: Session): Promise<void> => {
  if (!(await ports.sessions.postpone(session, ports.world.now() + orphanAgeMs))) return;
  await forgetSession({ ...ports, forgetFiles: (id) => forgetFilesAtRest(ports, id) }, session);
};

type Resting = { readonly rest: Rest; readonly next: number };

const restUntil = async (ports: StopDeps, session: Session, { rest, next }: Resting): Promise<void> => {
  const soon = ports.world.now() + stopRetryMs;
  if (!(await ports.sessions.postpone(session, soon))) return;
  const rested = await rest(session);
  if (rested === false) return;
  const until = rested === true ? next : Math.min(next, rested);
  await ports.sessions.postpone({ ...session, dueAt: soon }, until);
};

/** Its sandbox is released, which pauses it, unless processes keep it; without one, or where others use it, it is paused alone. */
const pauseIdle = async (
  ports: StopDeps,
  session: Session,
  { lifetimes, rest }: SessionSweep,
): Promise<void> => {
  const soon = ports.world.now() + stopRetryMs;
  if (!(await ports.sessions.postpone(session, soon))) return;
  const rested = await rest(session);
  if (rested === false) return;
  if (rested !== true) {
    await ports.sessions.postpone({ ...session, dueAt: soon }, rested);
    return;
  }
  if (await ports.sessions.pause(session, pausedUntil(session, lifetimes)))
    await markPaused(ports, [session]);
};

const endIdle = async (ports: StopDeps, session: Session, { lifetimes }: SweepSettings): Promise<void> => {
  const ending = { reason: 'idle', lifetimes, unlessMoved: true };
  if (await endSession(ports, session, ending)) {
    ports.telemetry.count('SessionsReaped');
    ports.telemetry.info('an idle session was ended', { event: 'session_reaped', sessionId: session.id });
  }
};

type Drive = SessionSweep & { readonly stall: Stall | undefined; readonly rests: boolean };

/** Has the turn continued, or ends it when that was tried in vain. */
const drive = async (ports: StopDeps, session: Session, { stall, rests, rest }: Drive): Promise<void> => {
  const now = ports.world.now();
  if (!(await ports.sessions.postpone(session, now + stopRetryMs, stall))) return;
  if (rests) await rest(session);
  if (stall !== undefined && isStalled(stall, session, now))
    return failTurn(ports, session.id, { version: stall.version });
  return ports.invoker.runTurn(session.id);
};

/** Removes a session that a connection alone made, without a message, once its last connection has closed. */
const removedAsUnused = async (ports: SweepDeps, session: Session): Promise<boolean> => {
  const { sessions, callers } = ports;
  if (!isUnused(session) || (await isConnected(ports, session))) return false;
  // The connections that offered these have closed.
  for (const { callerId, connectionId } of await callers.list(session.id))
    if (connectionId !== undefined) await callers.withdraw(session.id, callerId, { connectionId });
  return sessions.removeUnused(session);
};

/** The function that would have removed a connection may have died. */
const isConnected = async ({ connections, world }: SweepDeps, { id }: Session): Promise<boolean> => {
  const subscribers = await connections.subscribers(id);
  if (subscribers.length === 0) return false;
  const openedBefore = endedIfOpenedBefore(world.now());
  for (const subscriber of subscribers) await connections.remove(subscriber.id, { openedBefore });
  return (await connections.subscribers(id)).length > 0;
};

const sweepWorkspace = async (
  ports: SweepDeps,
  workspace: Workspace,
  settings: SweepSettings,
): Promise<void> => {
  switch (workspace.sandbox?.state) {
    case 'starting': {
      const { id: workspaceId, project, sandbox } = workspace;
      const reason = 'it took too long to start';
      // The index may be late: one that is ready by now, or is being restored, stays, and is not reported.
      const only = 'starting';
      if (ports.world.now() - sandbox.requestedAt >= sandboxStartMsMax)
        await publishSandboxFailure(ports, { workspaceId, generation: sandbox.generation, only });
      if (await requestStop(ports, workspace, { reason, only }))
        recordStartFailure(ports.telemetry, { workspaceId, project, sandbox }, reason);
      return;
    }
    case 'stopping':
      return finishStop(ports, workspace);
    case 'ready':
      return lookAt(ports, { ...workspace, sandbox: workspace.sandbox }, settings);
    case 'stopped':
    case undefined: {
      // The index may be late.
      const current = await ports.workspaces.get(workspace.id);
      if (current !== undefined) await notifySandboxEnd(ports, current);
      return;
    }
  }
};

type Ready = Workspace & { readonly sandbox: SandboxRecord };

/**
 * A sandbox whose lifetime is over, or whose slice has no time left, is saved and stopped, whatever runs in it. One whose sessions are
 * all idle is released: each of them may have been looked at for the last time while another was at work, which has left since.
 */
const lookAt = async (ports: SweepDeps, workspace: Ready, settings: SweepSettings): Promise<void> => {
  const now = ports.world.now();
  const { sandbox } = workspace;
  const { meter, lifetimeMs } = sandbox;
  const endsAt = lifetimeEnd(sandbox);
  const lookAgainAt = now + (meter === undefined ? sandboxLookMs : sandboxMeterLookMs);
  const usedUp = meter && usedUpAt(await ports.trees.read(meter.root), meter, now);
  if (endsAt !== undefined && lifetimeMs !== undefined && endsAt <= now)
    return stopOver(ports, workspace, {
      event: 'sandbox_lifetime_over',
      reason: 'its lifetime is over',
      only: { lifetimeMs },
    });
  if (usedUp !== undefined && usedUp <= now)
    return stopOver(ports, workspace, {
      event: 'sandbox_seconds_over',
      reason: 'its sandbox seconds are used up',
    });
  const restAt = await tryRest(ports, workspace, { ...settings, at: now });
  const times = [lookAgainAt, endsAt, usedUp, restAt].filter((time) => time !== undefined);
  await ports.workspaces.postpone(workspace, Math.min(...times));
};

/** The time of another try. That of a trial ends with it, and one without sessions is looked after by the sweep for orphans. */
const tryRest = async (
  ports: StopDeps,
  { id, users, sandbox }: Ready,
  settings: SweepSettings & { readonly at: number },
): Promise<number | undefined> => {
  if (sandbox.isTrial || users.length === 0) return undefined;
  const rested = await stopIdleSandbox(ports, id, settings);
  if (rested === true) return undefined;
  return rested === false ? settings.at + stopRetryMs : rested;
};

type Over = StopRequest & { readonly event: string };

const stopOver = async (ports: SweepDeps, workspace: Workspace, { event, ...stop }: Over): Promise<void> => {
  if (await requestStop(ports, workspace, stop))
    ports.telemetry.info('a sandbox is stopped at the end of its time', { event, workspaceId: workspace.id });
};
