/**
 * Finds a schedule for a caller, who must own everything it runs in: a schedule that reaches into a project they
 * may not read is answered like one that does not exist (AC2), one they may only read is refused a change (AC3).
 */

import { type Intent, mayRead } from '../../domain/access.ts';
import { isUuid } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ScheduleState } from '../../domain/schedule/next-step.ts';
import type { Schedule, ScheduleId } from '../../domain/schedule/schedule.ts';
import { AppError } from '../../errors.ts';
import type { Deps } from '../deps.ts';
import { requireReach } from './require-permission.ts';

const scheduleNotFound = (): AppError =>
  new AppError('schedule_not_found', 'there is no such schedule', {
    suggestions: ['List the schedules of the project.'],
  });

const reached = ({ targets, creator: { owner } }: Schedule) =>
  targets.map(({ project }) => ({ project, owner }));

export const isReadable = (principal: Principal, schedule: Schedule): boolean =>
  reached(schedule).every((resource) => mayRead(principal, resource));

export const findSchedule = async (
  { schedules }: Deps<'schedules'>,
  { id, principal, intent }: { readonly id: string; readonly principal: Principal; readonly intent: Intent },
): Promise<ScheduleState> => {
  const state = isUuid(id) ? await schedules.find(id as ScheduleId) : undefined;
  if (state === undefined || state.schedule.isDeleted || !isReadable(principal, state.schedule))
    throw scheduleNotFound();
  for (const resource of reached(state.schedule))
    requireReach(principal, resource, { intent, notFound: scheduleNotFound });
  return state;
};
