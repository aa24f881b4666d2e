/**
 * The janitor's sweep: everything whose moment has come, and nothing else.
 *
 * Safe to run many at once: each change is conditional. One failure does not end a sweep: the item stays
 * due and comes again. Unfinished turns are driven on, idle sandboxes stopped, failed stops asked again.
 */
import type { Workspace } from '../domain/sandbox.ts';
import { isEnded, type Session } from '../domain/session.ts';
import type { Invoker } from '../ports/invoker.ts';
import type { SessionStore } from '../ports/session-store.ts';
import { type StopPorts, stopSandbox } from './stop-sandbox.ts';

export type SweepPorts = StopPorts & { readonly sessions: SessionStore; readonly invoker: Invoker };

export type SweepReport = { readonly due: number; readonly failed: number };

const itemsMax = 100;

export const sweep = async (
  ports: SweepPorts,
  { idleMs, correlationId }: { idleMs: number; correlationId: string },
): Promise<SweepReport> => {
  const now = ports.world.now();
  const [sessions, workspaces] = await Promise.all([
    ports.sessions.due(now, itemsMax),
    ports.workspaces.due(now, itemsMax),
  ]);
  const results = await Promise.allSettled([
    ...sessions.map((session) => sweepSession(ports, session, { now, idleMs, correlationId })),
    ...workspaces.map((workspace) => stopSandbox(ports, workspace, 'it took too long to start or to stop')),
  ]);
  const failures = results.filter((result) => result.status === 'rejected');
  for (const { reason } of failures) ports.telemetry.error('a due item was not swept', { error: reason });
  const due = sessions.length + workspaces.length;
  ports.telemetry.count('SweepsDone');
  ports.telemetry.count('SweepDue', due);
  return { due, failed: failures.length };
};

const sweepSession = async (
  ports: SweepPorts,
  session: Session,
  { now, idleMs, correlationId }: { now: number; idleMs: number; correlationId: string },
): Promise<void> => {
  if (isEnded(session.status)) {
    await ports.sessions.postpone(session, undefined);
    return;
  }
  const idleAt = session.lastActiveAt + idleMs;
  const { turn, inbox } = await ports.sessions.loadWork(session.id);
  const isUnfinished = inbox.length > 0 && turn.state.kind !== 'deciding';
  if (isUnfinished) return ports.invoker.runTurn(session.id, correlationId);
  if (now < idleAt) {
    await ports.sessions.postpone(session, idleAt);
    return;
  }
  const workspace = await ports.workspaces.get(session.workspace);
  if (workspace !== undefined && isOnlyUser(workspace, session)) await stopSandbox(ports, workspace, 'idle');
  await ports.sessions.postpone(session, undefined);
};

const isOnlyUser = ({ users }: Workspace, { id }: Session): boolean => users.every((user) => user === id);
