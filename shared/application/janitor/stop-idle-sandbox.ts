/**
 * Stops the sandbox of a workspace whose sessions are all idle, unless one of them becomes active concurrently.
 *
 * The sessions are read once per workspace and sweep, even if several of them are due, in portions up to the first that is not
 * idle. If there are more than one transaction can check, they are read after the sandbox was marked: a later use removes the
 * mark and keeps the sandbox.
 */

import { idleFrom, isResting, type Lifetimes } from '../../domain/idle-time.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { idleCheckUsersMax } from '../../domain/limits.ts';
import type { Workspace } from '../../domain/sandbox.ts';
import type { Session } from '../../domain/session.ts';
import type { StopDeps } from '../deps.ts';
import { keptByProcesses } from '../sandbox/kept-by-processes.ts';
import { takeIdleSandbox } from '../sandbox/take-idle-sandbox.ts';
import { workOf } from '../sandbox/turn-work.ts';

/**
 * False for a sandbox that is still starting, or whose sessions changed while it was marked: it is checked again soon, or it would
 * run until its session is deleted. A time for one that its processes keep, or that became ready too short a time ago: it is checked
 * again then.
 */
export type Rest = (session: Session) => Promise<boolean | number>;

type IdleStopSettings = { readonly lifetimes: Lifetimes };

/** For one sweep. A session that was not idle yet when its workspace was read has it read again. */
export const openIdleStops = (ports: StopDeps, settings: IdleStopSettings): Rest => {
  const asked = new Map<WorkspaceId, { readonly at: number; readonly rested: Promise<boolean | number> }>();
  return (session) => {
    const known = asked.get(session.workspace);
    if (known !== undefined && known.at >= idleFrom(session, settings.lifetimes)) return known.rested;
    const at = ports.world.now();
    const rested = stopIdleSandbox(ports, session.workspace, { ...settings, at });
    asked.set(session.workspace, { at, rested });
    return rested;
  };
};

type Resting = IdleStopSettings & { readonly at: number };

/** As it is told of a session; true where no session is at rest, or another caller looks after it. */
export const stopIdleSandbox = async (
  ports: StopDeps,
  id: WorkspaceId,
  resting: Resting,
): Promise<boolean | number> => {
  const found = await ports.workspaces.get(id);
  if (found?.sandbox?.state !== 'ready') return found?.sandbox?.state !== 'starting';
  const workspace = found.users.length > idleCheckUsersMax ? await marked(ports, found) : found;
  const users = workspace && (await idleUsers(ports, workspace, resting));
  if (workspace === undefined || users === undefined) return true;
  const { at, lifetimes } = resting;
  const unusedFrom = Math.max(0, ...users.map((user) => idleFrom(user, lifetimes, found.sandbox?.readyAt)));
  if (at < unusedFrom) return unusedFrom;
  const kept = await keptByProcesses(ports, workspace);
  if (kept !== undefined) return kept;
  // One that left concurrently was not idle for it, and does not look at it again.
  return takeIdleSandbox(ports, { workspace, users }, 'idle');
};

const marked = (
  { workspaces, world }: StopDeps,
  { id, sandbox }: Workspace,
): Promise<Workspace | undefined> => workspaces.markIdleCheck(id, sandbox?.generation ?? 0, world.uuid());

/** All sessions of the workspace; undefined when one is not idle, or its function may have died halfway (L5). */
const idleUsers = async (
  ports: StopDeps,
  { users }: Workspace,
  { at, lifetimes }: Resting,
): Promise<readonly Session[] | undefined> => {
  const idle: Session[] = [];
  for (let from = 0; from < users.length; from += idleCheckUsersMax) {
    const portion = await ports.sessions.getMany(users.slice(from, from + idleCheckUsersMax));
    if (!portion.every((user) => isResting(user, at, lifetimes))) return undefined;
    const works = await Promise.all(portion.map((user) => workOf(ports, user)));
    if (works.some(({ work }) => work === 'own')) return undefined;
    idle.push(...portion);
  }
  return idle;
};
