/**
 * Takes a deleted project out of a schedule: one that runs nowhere else is deleted, any other goes on without it.
 * The schedule is not dispatched: the next sweep disarms it.
 */

import type { ProjectId } from '../../domain/ids.ts';
import { schedulesPerProjectMax } from '../../domain/schedule/limits.ts';
import { deletedSchedule, scheduleDueAt } from '../../domain/schedule/next-step.ts';
import type { Schedule, ScheduleId } from '../../domain/schedule/schedule.ts';
import type { Deps } from '../deps.ts';
import { changesTooOften, raceLost, untilWon } from '../write-race.ts';

/** The schedule as it was written; undefined when there was nothing to take out. */
export const removeProjectFromSchedule = (
  { schedules, world }: Deps<'schedules' | 'world'>,
  id: ScheduleId,
  project: ProjectId,
): Promise<Schedule | undefined> =>
  untilWon(
    async () => {
      const read = (await schedules.find(id))?.schedule;
      if (read === undefined || read.isDeleted || !runsIn(read, project)) return undefined;
      const now = world.now();
      const targets = read.targets.filter((target) => target.project !== project);
      const next = targets.length === 0 ? deletedSchedule(read, now) : { ...read, targets, updatedAt: now };
      const dueAt = next.isDeleted ? now : scheduleDueAt(next, now);
      const written = await schedules.write(next, { read, dueAt, schedulesMax: schedulesPerProjectMax });
      return typeof written === 'string' ? raceLost : written;
    },
    changesTooOften(`schedule ${id}`),
  );

const runsIn = ({ targets }: Schedule, project: ProjectId): boolean =>
  targets.some((target) => target.project === project);
