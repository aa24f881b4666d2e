/**
 * The sweep of schedules: those whose run is due and unclaimed, those that are not armed, and those with a run to check;
 * nothing else is read (J4). It continues until all that was due is dispatched or its time is over. One failure does not end a
 * sweep.
 */

import { sweepMsMax } from '../../domain/limits.ts';
import { schedulesAtOnceMax, schedulesDueMax } from '../../domain/schedule/limits.ts';
import type { ScheduleId } from '../../domain/schedule/schedule.ts';
import { dispatchSchedule } from './dispatch-schedule.ts';
import type { RunDeps } from './schedule-conversation.ts';

export type ScheduleSweepReport = { readonly due: number; readonly failed: number };

export const sweepSchedules = async (ports: RunDeps): Promise<ScheduleSweepReport> => {
  const { world, schedules } = ports;
  const from = world.now();
  let [due, failed] = [0, 0];
  for await (const page of schedules.due(from, schedulesDueMax))
    for (let at = 0; at < page.length; at += schedulesAtOnceMax) {
      if (world.now() >= from + sweepMsMax) return { due, failed };
      const portion = page.slice(at, at + schedulesAtOnceMax);
      due += portion.length;
      failed += await dispatchAll(ports, portion);
    }
  return { due, failed };
};

/** The number of those that failed. */
const dispatchAll = async (ports: RunDeps, ids: readonly ScheduleId[]): Promise<number> => {
  const results = await Promise.allSettled(ids.map((id) => dispatchSchedule(ports, { id })));
  const failures = results.filter((result) => result.status === 'rejected');
  for (const { reason: error } of failures) ports.telemetry.error('a schedule was not dispatched', { error });
  return failures.length;
};
