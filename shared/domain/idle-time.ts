/**
 * The idle time of a session: its limit, the time from which on its sandbox may be released, and the end of the time for which a
 * paused one keeps its files.
 *
 * A session under a lease, or with a call in flight, is never idle (L5). Work of its turn that no function does at the moment is
 * judged in session-sweep.ts.
 */
import { isEnded, type Session } from './session.ts';

export type Lifetimes = {
  /** Idle limit of agent sessions, in milliseconds. */
  readonly idleMs: number;
  /** Idle limit of execution sessions, in milliseconds. */
  readonly executionIdleMs: number;
  /** The time for which history and files outlive the last activity, in milliseconds. */
  readonly historyMs: number;
  /** The time for which a paused execution session keeps its files, in milliseconds. */
  readonly pausedMs: number;
  /** The time after which a sandbox stops while only a person can move the turn, in milliseconds. */
  readonly waitStopMs: number;
};

/** Its own limit, else that of its kind; a shorter one while its turn waits for a person. */
export const idleLimit = (
  { kind, idleMs: own, waits = false }: Pick<Session, 'kind' | 'idleMs' | 'waits'>,
  lifetimes: Lifetimes,
): number => {
  const limit = own ?? idleOfKind({ kind }, lifetimes);
  return waits ? Math.min(limit, lifetimes.waitStopMs) : limit;
};

/** Of a session that has no limit of its own. */
export const idleOfKind = (
  { kind }: Pick<Session, 'kind'>,
  { idleMs, executionIdleMs }: Lifetimes,
): number => (kind === 'agent' ? idleMs : executionIdleMs);

/**
 * The time from which on its sandbox may be released: its idle time begins when the session was active last, or when the sandbox
 * became ready, if that was later.
 */
export const idleFrom = (session: Session, lifetimes: Lifetimes, readyAt = 0): number =>
  isEnded(session.status)
    ? 0
    : Math.max(
        Math.max(session.lastActiveAt, readyAt) + idleLimit(session, lifetimes),
        session.lease.until,
        ...Object.values(session.runningCalls),
      );

/** True when its sandbox may be released now, if it has been ready for long enough. */
export const isResting = (session: Session, now: number, lifetimes: Lifetimes): boolean =>
  now >= idleFrom(session, lifetimes);

/** The end of a paused session's time: counted from its last activity, whatever paused it. */
export const pausedUntil = (session: Pick<Session, 'kind' | 'lastActiveAt'>, lifetimes: Lifetimes): number =>
  session.lastActiveAt + idleLimit(session, lifetimes) + lifetimes.pausedMs;
