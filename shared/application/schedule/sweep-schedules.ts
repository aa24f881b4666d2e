/**
 * The sweep of schedules: those whose run is due and unclaimed, those that are not armed, and those with a run to
 * check; nothing else is read (J4). One failure ends no sweep.
 */

import { schedulesAtOnceMax, schedulesDueMax } from '../../domain/schedule/limits.ts';
import { dispatchSchedule } from './run-schedule.ts';
import type { RunDeps } from './schedule-conversation.ts';

export type ScheduleSweepReport = { readonly due: number; readonly failed: number };

export const sweepSchedules = async (ports: RunDeps, correlationId: string): Promise<ScheduleSweepReport> => {
  const due = await ports.schedules.due(ports.world.now(), schedulesDueMax);
  let failed = 0;
  for (let from = 0; from < due.length; from += schedulesAtOnceMax) {
    const portion = due.slice(from, from + schedulesAtOnceMax);
    const results = await Promise.allSettled(
      portion.map((id) => dispatchSchedule(ports, { id, correlationId })),
    );
    for (const result of results)
      if (result.status === 'rejected') {
        failed += 1;
        ports.telemetry.error('a schedule was not dispatched', { error: result.reason });
      }
  }
  return { due: due.length, failed };
};
