/** Who wakes a schedule: the scheduler at a moment, and another function at once. Both at least once, possibly late. */
import type { ScheduleId } from '../domain/schedule/schedule.ts';

export interface Scheduler {
  /** Orders one wake-up for a run; ordered twice it comes once. The moment must not have passed. */
  arm(schedule: ScheduleId, runAt: number): Promise<void>;
  /** Takes the order back; one that is not there, or was carried out, is no failure. */
  disarm(schedule: ScheduleId, runAt: number): Promise<void>;
}

export interface ScheduleDispatcher {
  /** Has somebody look at the schedule now: arm it, start its runs, clear up after it. */
  dispatch(schedule: ScheduleId, correlationId: string): Promise<void>;
}
