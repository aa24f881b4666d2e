/**
 * The sweep of a session that is due, as the janitor decides it: drive it on, release its sandbox, end it, delete it, or
 * check again later.
 *
 * An idle session loses its sandbox, not its life: an agent session rests, an execution session is paused. A running tool,
 * a turn that has something to do and a call in flight are never idle (L5).
 */
import { idleFrom, idleLimit, type Lifetimes, pausedUntil } from './idle-time.ts';
import { stallMsMin, startTriesMax, stepTriesMax } from './limits.ts';
import { isEnded, type Session, type Stall } from './session.ts';
import { isUnused, unusedLookMs } from './unused-session.ts';

/**
 * The work of its turn: `none` until a person decides, `others` checks whether they have answered, `own` is work
 * of its own.
 */
export type SessionWork = 'none' | 'others' | 'own';

export type SweepStep =
  | { readonly step: 'wait'; readonly until: number }
  /**
   * A turn has something to do and no function runs it; `rests`: its sandbox may be released, if no other session
   * uses it.
   */
  | { readonly step: 'drive'; readonly rests: boolean }
  /** Its sandbox may be released, if no other session uses it; check again at `next`. */
  | { readonly step: 'rest'; readonly next: number }
  /** An execution session: its sandbox may be released, and it waits for its next call. */
  | { readonly step: 'pause' }
  | { readonly step: 'end' }
  | { readonly step: 'forget' };

/** The first look at a new session, as it is made. */
export const firstLookAt = (
  session: Pick<Session, 'kind' | 'idleMs' | 'isFleeting' | 'status' | 'createdAt'>,
  lifetimes: Lifetimes,
): number => {
  const { kind, createdAt } = session;
  const forMs = kind === 'agent' ? lifetimes.historyMs : idleLimit(session, lifetimes);
  return soonWhileUnused(session, createdAt + forMs, createdAt);
};

/** The next look at it, which the end of a connection brings forward where it is heard of. */
const soonWhileUnused = (
  session: Pick<Session, 'isFleeting' | 'status'>,
  lookAt: number,
  now: number,
): number => (isUnused(session) ? Math.min(lookAt, now + unusedLookMs) : lookAt);

export const sweepStep = (
  session: Session,
  work: SessionWork,
  { now, lifetimes }: { readonly now: number; readonly lifetimes: Lifetimes },
): SweepStep => {
  const forgetAt = session.lastActiveAt + lifetimes.historyMs;
  if (isEnded(session.status)) return now < forgetAt ? { step: 'wait', until: forgetAt } : { step: 'forget' };
  if (session.status === 'error') return { step: 'end' };
  if (session.status === 'paused') {
    const until = pausedUntil(session, lifetimes);
    return now < until ? { step: 'wait', until } : { step: 'end' };
  }
  if (work === 'own') return { step: 'drive', rests: false };
  const restAt = idleFrom(session, lifetimes);
  if (work === 'others') return { step: 'drive', rests: now >= restAt };
  if (now < restAt) return { step: 'wait', until: soonWhileUnused(session, restAt, now) };
  if (session.kind === 'execution') return { step: 'pause' };
  if (now >= forgetAt) return { step: 'end' };
  return { step: 'rest', next: soonWhileUnused(session, Math.max(forgetAt, now + 1), now) };
};

/** The tries with the one that is made now: counted per version of the turn, since every step moves it. */
export const nextStall = (
  { stall, lease }: Pick<Session, 'stall' | 'lease'>,
  version: number,
  now: number,
): Stall =>
  stall?.version === version
    ? { ...stall, tries: stall.tries + 1 }
    : { version, fence: lease.fence, tries: 1, since: now };

/** True when another try is pointless. The try that `stall` counts last has not been made. */
export const isStalled = (
  { fence, tries, since }: Stall,
  { lease }: Pick<Session, 'lease'>,
  now: number,
): boolean => tries > (lease.fence === fence ? startTriesMax : stepTriesMax) && now - since >= stallMsMin;

/** True when it received nothing, and showed no sign of life, between the two reads. */
export const isAsRead = (
  one: Pick<Session, 'workSeq' | 'lastActiveAt'>,
  other: Pick<Session, 'workSeq' | 'lastActiveAt'>,
): boolean => one.workSeq === other.workSeq && one.lastActiveAt === other.lastActiveAt;
