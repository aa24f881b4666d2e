/**
 * Invocations of the schedules function: by the scheduler at a given time, and by another function at once. Both
 * at least once, possibly late.
 */
import type { ScheduleId } from '../domain/schedule/schedule.ts';

export interface Scheduler {
  /** Schedules one invocation for a run; repeated, it still comes once. The time must not have passed. */
  arm(schedule: ScheduleId, runAt: number): Promise<void>;
  /** Cancels the invocation; one that does not exist, or was made, is no failure. */
  disarm(schedule: ScheduleId, runAt: number): Promise<void>;
}

export interface ScheduleDispatcher {
  /** Dispatches the schedule now: arms it, starts its runs, cleans up after it. */
  dispatch(schedule: ScheduleId, correlationId: string): Promise<void>;
}
