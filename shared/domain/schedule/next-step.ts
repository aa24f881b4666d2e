/**
 * The next step of a schedule: its next run, and what its dispatcher has to do now (J3, J4).
 *
 * Missed runs are run once, however many there were: the next run is computed from now.
 */

import { decodeCron, nextRun } from './cron.ts';
import { armGraceMs, armMarginMs, missedAfterMs } from './limits.ts';
import type { Run } from './run.ts';
import type { Pin, Schedule } from './schedule.ts';

/** A schedule with all that a decision about it needs. */
export type ScheduleState = {
  readonly schedule: Schedule;
  /** By `targetKey`. */
  readonly pins: ReadonlyMap<string, Pin>;
  /** Runs that have not ended, oldest first. */
  readonly open: readonly Run[];
};

/** Strictly after now, and after the last run: a changed expression never runs one moment twice (J1). */
export const nextRunOf = (
  { cron, lastRunAt = 0 }: Pick<Schedule, 'cron' | 'lastRunAt'>,
  now: number,
): number | undefined => {
  const decoded = decodeCron(cron);
  return decoded.ok ? nextRun(decoded.cron, Math.max(now, lastRunAt)) : undefined;
};

/** The schedule with its next run, computed from now; a disabled one has none. */
export const rescheduled = ({ nextRunAt: _, ...schedule }: Schedule, now: number): Schedule => {
  const next = schedule.isEnabled ? nextRunOf(schedule, now) : undefined;
  return next === undefined ? { ...schedule, isEnabled: false } : { ...schedule, nextRunAt: next };
};

/** Deleted for clients; the dispatcher still disarms and removes it. */
export const deletedSchedule = ({ nextRunAt: _, ...schedule }: Schedule, now: number): Schedule => ({
  ...schedule,
  isEnabled: false,
  isDeleted: true,
  updatedAt: now,
});

export type ScheduleStep =
  | { readonly step: 'clear' }
  /** Claim this run and start it, after a short wait when it is just ahead. */
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

/** The time of its next sweep; undefined: there is nothing to wait for. */
export const scheduleDueAt = (
  { isDeleted, nextRunAt, armedFor }: Pick<Schedule, 'isDeleted' | 'nextRunAt' | 'armedFor'>,
  now: number,
): number | undefined => {
  if (!isDeleted && nextRunAt !== undefined && armedFor === nextRunAt) return nextRunAt + missedAfterMs;
  return !isDeleted && nextRunAt === undefined && armedFor === undefined ? undefined : now + armGraceMs;
};
