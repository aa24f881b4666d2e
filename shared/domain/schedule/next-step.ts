/**
 * What a schedule waits for: its next moment, and what whoever looks at it has to do now (J3, J4).
 *
 * A moment that was missed is run once, however many were: the next is counted from now.
 */
import { decodeCron, nextRun } from './cron.ts';
import { armGraceMs, armMarginMs, missedAfterMs } from './limits.ts';
import type { Schedule } from './schedule.ts';

/** Strictly after now, and after the run that was last: a changed expression never runs one moment twice (J1). */
export const nextRunOf = (
  { cron, lastRunAt = 0 }: Pick<Schedule, 'cron' | 'lastRunAt'>,
  now: number,
): number | undefined => {
  const decoded = decodeCron(cron);
  return decoded.ok ? nextRun(decoded.cron, Math.max(now, lastRunAt)) : undefined;
};

/** With its next moment, counted from now; a disabled one has none. */
export const rescheduled = ({ nextRunAt: _, ...schedule }: Schedule, now: number): Schedule => {
  const next = schedule.isEnabled ? nextRunOf(schedule, now) : undefined;
  return next === undefined ? { ...schedule, isEnabled: false } : { ...schedule, nextRunAt: next };
};

/** Gone for everybody but for whoever takes back what is armed, and clears up. */
export const deletedSchedule = ({ nextRunAt: _, ...schedule }: Schedule, now: number): Schedule => ({
  ...schedule,
  isEnabled: false,
  isDeleted: true,
  updatedAt: now,
});

export type ScheduleStep =
  | { readonly step: 'clear' }
  /** Claim this moment and run it, after a short wait when it is just ahead. */
  | { readonly step: 'run'; readonly runAt: number; readonly waitMs: number }
  | { readonly step: 'arm'; readonly runAt: number; readonly disarm?: number }
  | { readonly step: 'disarm'; readonly disarm: number }
  | { readonly step: 'rest' };

export const nextStep = (
  { isDeleted, nextRunAt, armedFor }: Pick<Schedule, 'isDeleted' | 'nextRunAt' | 'armedFor'>,
  now: number,
): ScheduleStep => {
  if (isDeleted) return { step: 'clear' };
  if (nextRunAt === undefined)
    return armedFor === undefined ? { step: 'rest' } : { step: 'disarm', disarm: armedFor };
  if (armedFor === nextRunAt)
    return now < nextRunAt + missedAfterMs ? { step: 'rest' } : { step: 'run', runAt: nextRunAt, waitMs: 0 };
  if (nextRunAt - now <= armMarginMs)
    return { step: 'run', runAt: nextRunAt, waitMs: Math.max(0, nextRunAt - now) };
  return { step: 'arm', runAt: nextRunAt, ...(armedFor === undefined ? {} : { disarm: armedFor }) };
};

/** When a sweep looks at it again; undefined: there is nothing to wait for. */
export const scheduleDueAt = (
  { isDeleted, nextRunAt, armedFor }: Pick<Schedule, 'isDeleted' | 'nextRunAt' | 'armedFor'>,
  now: number,
): number | undefined => {
  if (!isDeleted && nextRunAt !== undefined && armedFor === nextRunAt) return nextRunAt + missedAfterMs;
  return !isDeleted && nextRunAt === undefined && armedFor === undefined ? undefined : now + armGraceMs;
};
