/** Schedules and their runs: the store, the scheduler that invokes, and the function that dispatches. */

import type { AuditRow } from '../domain/audit.ts';
import type { ProjectId } from '../domain/ids.ts';
import type { ScheduleState } from '../domain/schedule/next-step.ts';
import type { Run } from '../domain/schedule/run.ts';
import type {
  ListedSchedule,
  Pin,
  Schedule,
  ScheduleId,
  ScheduleTarget,
} from '../domain/schedule/schedule.ts';
import type { Notice } from '../domain/webhook/notice.ts';

/**
 * Schedules, the pins of their targets, and their runs. Every write names the version it read; each says what it
 * returns when it loses.
 *
 * The conformance suite is tests/conformance/schedule-store.test.ts.
 */
export interface ScheduleStore {
  /** `full` when one of its projects has as many as it may have, `gone` when one is deleted. */
  create(
    schedule: Schedule,
    request: { readonly dueAt: number | undefined; readonly schedulesMax: number },
  ): Promise<'created' | 'full' | 'gone'>;
  find(id: ScheduleId): Promise<ScheduleState | undefined>;
  /** All schedules that run in a project, newest first. */
  listOf(project: ProjectId): Promise<readonly ListedSchedule[]>;
  /** All of the deployment, newest first. `after` is the previous page's `next`. */
  list(page: {
    readonly after?: string;
    readonly itemsMax: number;
  }): Promise<{ readonly schedules: readonly ListedSchedule[]; readonly next?: string }>;
  /**
   * Writes the schedule over the version that was read, with runs that begin by it, all or nothing: one of any
   * number of concurrent writers succeeds. Projects it leaves list it no more, and targets it leaves lose their
   * pins. A deleted one is listed nowhere.
   */
  write(
    next: Schedule,
    request: {
      readonly read: Schedule;
      readonly dueAt: number | undefined;
      readonly runs?: readonly Run[];
      readonly audits?: readonly AuditRow[];
      readonly schedulesMax?: number;
    },
  ): Promise<Schedule | 'moved' | 'full' | 'gone'>;
  /**
   * False, and nothing is pinned, when the schedule is deleted or has left the target, or when another pin than `former` stands there.
   */
  pin(
    id: ScheduleId,
    target: ScheduleTarget,
    pinning: { readonly pin: Pin; readonly former: Pin | undefined },
  ): Promise<boolean>;
  /**
   * Records where an open run is about to send its prompt; false when another caller moved it, or its schedule is
   * deleted.
   */
  beginRun(run: Run): Promise<boolean>;
  /**
   * Saves an open run, or moves an ended one to the history, with the notices of its end; false when another
   * caller moved it.
   */
  saveRun(run: Run, notices?: readonly Notice[]): Promise<boolean>;
  /** Ended runs, newest first. `after` is the previous page's `next`. */
  history(
    id: ScheduleId,
    page: { readonly after?: string; readonly itemsMax: number; readonly now: number },
  ): Promise<{ readonly runs: readonly Run[]; readonly next?: string }>;
  /** Schedules that are due, page by page: their next run, or a check of one of their runs. */
  due(now: number, pageMax: number): AsyncIterable<readonly ScheduleId[]>;
  /** Removes the remains of a deleted schedule except its history, which expires by itself. */
  clear(state: ScheduleState): Promise<void>;
}

/**
 * Invocations of the schedules function: by the scheduler at a given time, and by another function at once. Both
 * at least once, possibly late.
 */
export interface Scheduler {
  /** Schedules one invocation for a run; repeated, it still comes once. The time must not have passed. */
  arm(schedule: ScheduleId, runAt: number): Promise<void>;
  /** Cancels the invocation; one that does not exist, or was made, is no failure. */
  disarm(schedule: ScheduleId, runAt: number): Promise<void>;
}

export interface ScheduleDispatcher {
  /** Dispatches the schedule now: arms it, starts its runs, cleans up after it. */
  dispatch(schedule: ScheduleId): Promise<void>;
}
