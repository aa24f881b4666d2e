/**
 * Recovery of a platform that runs alone on its machine, at its start: every function of the previous run is dead, so nothing waits
 * for a lease, a claim or a call that one of them held, nor for a sandbox or a connection that ended with them.
 *
 * It runs before any other function: it cannot tell a living holder from a dead one. The sweep that follows continues the work.
 */

import { idleOfKind, type Lifetimes } from '../../domain/idle-time.ts';
import { unusedSessionMs } from '../../domain/limits.ts';
import type { SandboxRecord, Workspace } from '../../domain/sandbox.ts';
import type { Session } from '../../domain/session.ts';
import { isUnused } from '../../domain/unused-session.ts';
import type { Deps, StopDeps } from '../deps.ts';
import { sweepOrphans } from './sweep-orphans.ts';

export type Recovered = {
  readonly lost: number;
  readonly sessions: number;
  readonly workspaces: number;
  readonly failed: number;
};

type Recovery = {
  readonly lifetimes: Lifetimes;
  readonly poolSize: number;
};

export const recoverAfterRestart = async (
  ports: StopDeps,
  { lifetimes, poolSize }: Recovery,
): Promise<Recovered> => {
  // A start whose task is not there was not answered in the last life: no age makes it too young.
  const orphans = await sweepOrphans(ports, { poolSize, unseenMs: 0 });
  let { failed } = orphans;
  const onUnreadable = (error: unknown): void => {
    failed += 1;
    ports.telemetry.error('a record of the last life cannot be read', { error });
  };
  const each = async <Record>(
    pages: AsyncIterable<readonly Record[]>,
    free: (record: Record) => Promise<boolean>,
  ): Promise<number> => {
    let freed = 0;
    for await (const page of pages)
      for (const result of await Promise.allSettled(page.map(free))) {
        if (result.status === 'rejected') onUnreadable(result.reason);
        else if (result.value) freed += 1;
      }
    return freed;
  };
  const workspaces = await each(ports.workspaces.live(onUnreadable), (workspace) =>
    freeWorkspace(ports, workspace),
  );
  const sessions = await each(ports.sessions.live(onUnreadable), (session) =>
    freeSession(ports, session, lifetimes),
  );
  return { lost: orphans.lost, sessions, workspaces, failed };
};

/** Its turn is due now; the calls of its functions have ended. */
const freeSession = async (
  ports: Deps<'sessions' | 'turns' | 'connections' | 'world'>,
  session: Session,
  lifetimes: Lifetimes,
): Promise<boolean> => {
  const { sessions, turns, world } = ports;
  if (isUnused(session)) return closeConnections(ports, session);
  const at = world.now();
  if (session.kind === 'agent') return session.status === 'running' && turns.breakLease(session, at);
  const calls = Object.keys(session.runningCalls);
  const idleMs = idleOfKind(session, lifetimes);
  for (const key of calls) await sessions.endCall(session.id, { key, at, idleMs });
  return calls.length > 0;
};

/** A client may come back to it for a minute, as after each end of its last connection. */
const closeConnections = async (
  { sessions, connections, world }: Deps<'sessions' | 'connections' | 'world'>,
  session: Session,
): Promise<boolean> => {
  for (const { id } of await connections.subscribers(session.id)) await connections.remove(id);
  return sessions.postpone(session, world.now() + unusedSessionMs);
};

/** Its restore and its last save can be claimed again, and a stop goes on now. */
const freeWorkspace = async (
  { workspaces, world }: Deps<'workspaces' | 'world'>,
  workspace: Workspace,
): Promise<boolean> => {
  const { id, sandbox } = workspace;
  if (sandbox === undefined || !isClaimed(sandbox)) return false;
  const { generation, restores, restoringUntil, savingUntil } = sandbox;
  if (restoringUntil !== undefined && restores !== undefined)
    await workspaces.unclaimRestore(id, generation, restores);
  if (savingUntil !== undefined) await workspaces.unclaimLastSave(id, generation, savingUntil);
  if (sandbox.state === 'stopping') await workspaces.postpone(workspace, world.now());
  return true;
};

const isClaimed = ({ state, restoringUntil, savingUntil }: SandboxRecord): boolean =>
  state === 'stopping' || restoringUntil !== undefined || savingUntil !== undefined;
