/** A schedule as it is read: with all that a decision about it needs, or as a listing shows it. */
import type { Run } from './run.ts';
import type { Pin, Schedule } from './schedule.ts';

export type ScheduleState = {
  readonly schedule: Schedule;
  /** By `targetKey`. */
  readonly pins: ReadonlyMap<string, Pin>;
  /** Runs that have not ended, oldest first. */
  readonly open: readonly Run[];
};

/** In a listing a long prompt is cut. */
export type ListedSchedule = Schedule & { readonly isPromptCut: boolean };
