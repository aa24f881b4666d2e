/**
 * Takes a deleted project out of a schedule: one that runs nowhere else is deleted, any other goes on without it. The row of the audit
 * log is of the same write, since no repeat finds the schedule again.
 * The schedule is not dispatched: the next sweep disarms it.
 */

import type { ProjectId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import { schedulesPerProjectMax } from '../../domain/schedule/limits.ts';
import { deletedSchedule, scheduleDueAt } from '../../domain/schedule/next-step.ts';
import type { Schedule, ScheduleId } from '../../domain/schedule/schedule.ts';
import { auditRow, recordAudit } from '../access/audit.ts';
import type { Deps } from '../deps.ts';
import { changesTooOften, raceLost, untilWon } from '../write-race.ts';

export const removeProjectFromSchedule = (
  { schedules, telemetry, world }: Deps<'schedules' | 'telemetry' | 'world'>,
  id: ScheduleId,
  { project, principal }: { readonly project: ProjectId; readonly principal: Principal },
): Promise<void> =>
  untilWon(
    async () => {
      const read = (await schedules.find(id))?.schedule;
      if (read === undefined || read.isDeleted || !runsIn(read, project)) return undefined;
      const now = world.now();
      const targets = read.targets.filter((target) => target.project !== project);
      const next = targets.length === 0 ? deletedSchedule(read, now) : { ...read, targets, updatedAt: now };
      const dueAt = next.isDeleted ? now : scheduleDueAt(next, now);
      const action = next.isDeleted ? 'schedule.delete' : 'schedule.update';
      const row = auditRow(principal, now, { action, subject: id, project });
      const written = await schedules.write(next, {
        ...{ read, dueAt, schedulesMax: schedulesPerProjectMax },
        audits: [row],
      });
      if (typeof written === 'string') return raceLost;
      recordAudit(telemetry, row);
      return undefined;
    },
    changesTooOften(`schedule ${id}`),
  );

const runsIn = ({ targets }: Schedule, project: ProjectId): boolean =>
  targets.some((target) => target.project === project);
