/**
 * Takes a sandbox from its sessions if all of them are idle and none became active since it was read. It is marked, which frees
 * its slot at once, and the janitor saves and stops it. Its execution sessions are paused.
 */

import { takenReasons } from '../../domain/idle-sandbox.ts';
import { pausedUntil } from '../../domain/idle-time.ts';
import { idleCheckUsersMax, stopRetryMs } from '../../domain/limits.ts';
import type { Workspace } from '../../domain/sandbox.ts';
import { isPausable, type Session } from '../../domain/session.ts';
import type { Deps, PublishDeps } from '../deps.ts';
import { appendAndPublish } from '../events/publisher.ts';

/** Both as they were read. */
export type IdleSandbox = {
  readonly workspace: Workspace;
  /** All sessions of the workspace. */
  readonly users: readonly Session[];
};

const logged = {
  idle: ['an idle sandbox is stopped', 'sandbox_rested'],
  slot: ['an idle sandbox gave way', 'sandbox_evicted'],
  pause: ['a sandbox is paused', 'sandbox_paused'],
} as const satisfies Record<keyof typeof takenReasons, readonly [string, string]>;

/** False when one of its sessions moved, or it was used. */
export const takeIdleSandbox = async (
  ports: PublishDeps & Deps<'workspaces' | 'invoker' | 'lifetimes'>,
  { workspace, users }: IdleSandbox,
  why: keyof typeof takenReasons,
): Promise<boolean> => {
  const { workspaces, invoker, telemetry, lifetimes, world } = ports;
  const { id } = workspace;
  const at = world.now();
  const stop = {
    reason: takenReasons[why],
    ...{ at, dueAt: at + stopRetryMs },
    pausedUntil: (session: Session) => pausedUntil(session, lifetimes),
  };
  if ((await workspaces.markIdle(workspace, users, stop)) === undefined) return false;
  const [message, event] = logged[why];
  if (why === 'slot') telemetry.count('SandboxesEvicted');
  telemetry.info(message, { event, workspaceId: id });
  await invoker.stopSandbox(id);
  // Where the sessions are too many for one write, each is paused when it is due itself.
  if (users.length <= idleCheckUsersMax) await markPaused(ports, users);
  return true;
};

/** Tells the execution sessions of a sandbox that is stopped for idleness that they are paused. */
/** The sessions as they were before. */
export const markPaused = async (ports: PublishDeps, sessions: readonly Session[]): Promise<void> => {
  const entry = { type: 'system', data: { kind: 'session_status', status: 'paused' } } as const;
  for (const { id } of sessions.filter(isPausable)) {
    ports.telemetry.count('SessionsPaused');
    ports.telemetry.info('a session is paused', { event: 'session_paused', sessionId: id });
    await appendAndPublish(ports, id, [entry]);
  }
};
