/** One change of a schedule over the version that was read, retried after a concurrent write, and announced. */

import { projectOf } from '../../domain/access.ts';
import type { ProjectId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import { schedulesPerProjectMax } from '../../domain/schedule/limits.ts';
import { scheduleDueAt } from '../../domain/schedule/next-step.ts';
import type { Run } from '../../domain/schedule/run.ts';
import type { Schedule } from '../../domain/schedule/schedule.ts';
import { AppError } from '../../errors.ts';
import { audit } from '../access/audit.ts';
import { projectNotFound } from '../access/find-project.ts';
import { findSchedule } from '../access/find-schedule.ts';
import type { ScheduleDeps } from '../deps.ts';
import { changesTooOften, raceLost, untilWon } from '../write-race.ts';

type Decision = { readonly next: Schedule; readonly runs?: readonly Run[] };

/** The schedule as it was written. */
export const changeSchedule = (
  ports: ScheduleDeps,
  { id, principal }: { readonly id: string; readonly principal: Principal },
  decide: (schedule: Schedule, now: number) => Decision,
): Promise<Schedule> =>
  untilWon(async () => {
    const { schedule: read } = await findSchedule(ports, { id, principal, intent: 'write' });
    const now = ports.world.now();
    const { next, runs = [] } = decide(read, now);
    const dueAt = scheduleDueAt(next, now);
    const options = { read, dueAt, runs, schedulesMax: schedulesPerProjectMax };
    const written = await ports.schedules.write(next, options);
    if (written === 'full') throw tooManySchedules();
    if (written === 'gone') throw projectNotFound();
    return written === 'moved' ? raceLost : written;
  }, changesTooOften('the schedule'));

export const tooManySchedules = (): AppError =>
  new AppError('resource_limit_exceeded', `a project has at most ${schedulesPerProjectMax} schedules`, {
    suggestions: ['Delete one that is no longer needed.'],
  });

type Change = {
  readonly action: `schedule.${'create' | 'update' | 'delete' | 'trigger'}`;
  readonly schedule: Pick<Schedule, 'id' | 'targets'>;
};

/** A row names one project: that of all targets, if they are in one. */
const soleProject = ({ targets }: Pick<Schedule, 'targets'>): ProjectId | undefined => {
  const [project, ...others] = new Set(targets.map((target) => target.project));
  return others.length === 0 ? project : undefined;
};

/** Writes the audit row and dispatches the schedule; the sweep replaces a lost invocation. */
export const announce = async (
  ports: ScheduleDeps,
  principal: Principal,
  { action, schedule }: Change,
): Promise<void> => {
  const { id } = schedule;
  const project = projectOf(principal.scope) ?? soleProject(schedule);
  await audit(ports, principal, { action, subject: id, project });
  try {
    await ports.scheduleDispatcher.dispatch(id);
  } catch (error) {
    ports.telemetry.warn('a schedule waits for the sweep', { error, scheduleId: id });
  }
};
