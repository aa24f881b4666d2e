/**
 * The sandbox of a session, outside a turn: acquired behind a heartbeat, and another before each start, so that no janitor stops
 * it; its start is appended to the session's log.
 */

import { startEntries } from '../../contracts/sandbox-start.ts';
import { idleLimit, idleOfKind, type Lifetimes } from '../../domain/idle-time.ts';
import { heartbeatMs } from '../../domain/limits.ts';
import { isEnded, isPausable, type Session } from '../../domain/session.ts';
import type { SandboxDeps } from '../deps.ts';
import { appendAndPublish } from '../events/publisher.ts';
import { type AcquiredSandbox, acquireWithin } from './acquire-sandbox.ts';
import { endedSession } from './ended-session.ts';
import { startedFor } from './sandbox-request.ts';

export type Opening = {
  readonly lifetimes: Lifetimes;
  readonly signal?: AbortSignal;
  /** Seconds to wait for a slot; absent: none. */
  readonly slotWaitSeconds?: number;
  /** An idle sandbox gives way, whatever the operator's setting. */
  readonly evictsIdle?: boolean;
  /** A sandbox that starts now is kept until its first process has begun. */
  readonly hasProcesses?: true;
  /** Milliseconds to wait for the sandbox; absent: `sandboxWaitMsMax`. Its start goes on after that. */
  readonly waitMs?: number;
  /** Receives the phases while the caller waits for the sandbox. */
  readonly onPhase?: (phase: string) => void;
};

export type EnteredSandbox = AcquiredSandbox & {
  /** Ends once its start is in the logs: the caller already works in it, and awaits this before it writes to the session. */
  readonly recorded: Promise<void>;
};

export const acquireWithHeartbeat = async (
  ports: SandboxDeps,
  session: Session,
  opening: Opening,
): Promise<AcquiredSandbox> => {
  const { recorded, ...acquired } = await enterSandbox(ports, session, opening);
  await recorded;
  return acquired;
};

/** For a caller whose work needs no record of the start. */
export const enterSandbox = async (
  ports: SandboxDeps,
  session: Session,
  { lifetimes, waitMs, ...waiting }: Opening,
): Promise<EnteredSandbox> => {
  requireActive(session);
  const beforeStart = heartbeats(ports, session, lifetimes);
  await beforeStart();
  const acquired = await acquireWithin(ports, { ...startedFor(session), ...waiting, beforeStart }, waitMs);
  if (session.status === 'paused' || mayHavePaused(session, acquired))
    await ports.sessions.recordReady(session.id, {
      at: ports.world.now(),
      idleMs: idleOfKind(session, lifetimes),
    });
  const recorded = recordStart(ports, session, { ...acquired, ...waiting });
  // A caller that fails before it awaits this has an error of its own.
  recorded.catch(() => undefined);
  return { ...acquired, recorded };
};

/**
 * One whose sandbox gave way after the session was read is paused in the table alone, also where another request starts the next
 * one: that is ready later than the session was active. A first sandbox had none before it.
 */
const mayHavePaused = (session: Session, { start, sandbox, workspace }: AcquiredSandbox): boolean => {
  const { readyAt = Number.POSITIVE_INFINITY } = workspace.sandbox ?? {};
  const isNew = start !== undefined || readyAt >= session.lastActiveAt;
  return isPausable(session) && sandbox.generation > 1 && isNew;
};

const recordStart = async (
  ports: SandboxDeps,
  { id }: Session,
  { start, logged, onPhase }: Pick<AcquiredSandbox, 'start' | 'logged'> & Pick<Opening, 'onPhase'>,
): Promise<void> => {
  if (start === undefined) return;
  onPhase?.(`the sandbox is ready after ${start.startMs} ms (${start.source})`);
  await Promise.all([logged, appendAndPublish(ports, id, startEntries(start))]);
};

export const requireActive = (session: Pick<Session, 'kind' | 'status'>): void => {
  // One in error has left its workspace, and waits for the janitor.
  if (isEnded(session.status) || session.status === 'error') throw endedSession(session);
};

/** Each is written only when the last one is old enough: a busy session costs no write per request. */
const heartbeats = (
  { sessions, world }: SandboxDeps,
  session: Session,
  lifetimes: Lifetimes,
): (() => Promise<void>) => {
  const idleMs = idleLimit(session, lifetimes);
  let { lastActiveAt, dueAt = Number.POSITIVE_INFINITY } = session;
  return async () => {
    const now = world.now();
    const isFresh = now - lastActiveAt < Math.min(heartbeatMs, idleMs / 4);
    if (isFresh && dueAt <= now + idleMs) return;
    await sessions.touch(session, { at: now, lifetimes });
    lastActiveAt = now;
    dueAt = now + idleMs;
  };
};
