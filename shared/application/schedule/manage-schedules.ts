/**
 * Schedules: created, changed, deleted, triggered. A schedule is for callers who may write all it runs in; arming
 * it is left to its dispatcher.
 */

import { projectOf } from '../../domain/access.ts';
import type { ProjectId } from '../../domain/ids.ts';
import { defaultProject, type Principal } from '../../domain/principal.ts';
import { schedulesPerProjectMax } from '../../domain/schedule/limits.ts';
import {
  deletedSchedule,
  rescheduled,
  type ScheduleState,
  scheduleDueAt,
} from '../../domain/schedule/next-step.ts';
import type { Run } from '../../domain/schedule/run.ts';
import type { Schedule, ScheduleId, ScheduleTarget } from '../../domain/schedule/schedule.ts';
import {
  type FieldNames,
  missingField,
  type ScheduleFields,
  type ScheduleOptions,
  validateSchedule,
} from '../../domain/schedule/validate.ts';
import { AppError } from '../../errors.ts';
import { audit } from '../access/audit.ts';
import { findProject, projectNotFound } from '../access/find-project.ts';
import { findSchedule } from '../access/find-schedule.ts';
import type { ScheduleDeps } from '../deps.ts';
import { resolveWorkspace } from '../session/resolve-workspace.ts';
import { changesTooOften, raceLost, untilWon } from '../write-race.ts';
import { newRuns } from './dispatch-schedule.ts';

/** `names`: the names of the fields in the client's protocol. */
export type ScheduleInput = { readonly options: ScheduleOptions; readonly names: FieldNames };

export const createSchedule = async (
  ports: ScheduleDeps,
  principal: Principal,
  { options, names }: ScheduleInput,
): Promise<ScheduleState> => {
  const fields = validFields(options, names);
  const missing = missingField(fields, names);
  if (missing !== undefined) throw invalid(missing);
  const { name = '', cron = '', prompt = '' } = fields;
  const targets = fields.targets ?? [{ project: projectOf(principal.scope) ?? defaultProject }];
  await checkTargets(ports, principal, targets);
  const now = ports.world.now();
  const schedule = rescheduled(
    {
      id: ports.world.uuid() as ScheduleId,
      name,
      cron,
      prompt,
      targets,
      isEnabled: fields.isEnabled ?? true,
      overlap: fields.overlap ?? 'skip',
      sessions: fields.sessions ?? 'resume',
      creator: principal,
      createdAt: now,
      updatedAt: now,
      version: 0,
    },
    now,
  );
  const limits = { dueAt: scheduleDueAt(schedule, now), schedulesMax: schedulesPerProjectMax };
  const created = await ports.schedules.create(schedule, limits);
  if (created === 'full') throw tooManySchedules();
  if (created === 'gone') throw projectNotFound();
  await announce(ports, principal, { action: 'schedule.create', schedule });
  return { schedule, pins: new Map(), open: [] };
};

export const updateSchedule = async (
  ports: ScheduleDeps,
  principal: Principal,
  { id, options, names }: ScheduleInput & { readonly id: string },
): Promise<ScheduleState> => {
  const found = await findSchedule(ports, { id, principal, intent: 'write' });
  const fields = validFields(options, names);
  if (fields.targets !== undefined) {
    await checkTargets(ports, principal, fields.targets);
    await checkTargets(ports, found.schedule.creator, fields.targets);
  }
  const schedule = await changeSchedule(ports, { id, principal }, (read, now) => ({
    next: changed(read, { fields, principal, now }),
  }));
  await announce(ports, principal, { action: 'schedule.update', schedule });
  return findSchedule(ports, { id, principal, intent: 'write' });
};

type Change = {
  readonly fields: Partial<ScheduleFields>;
  readonly principal: Principal;
  readonly now: number;
};

const changed = (schedule: Schedule, { fields, principal, now }: Change): Schedule => {
  const { disabledReason, ...next } = { ...schedule, ...fields, updatedAt: now };
  const { cron = schedule.cron, isEnabled = schedule.isEnabled } = fields;
  const isMoved = cron !== schedule.cron || isEnabled !== schedule.isEnabled;
  const moved = isMoved ? rescheduled(next, now) : next;
  const owned = takesOver(schedule, { fields, principal }) ? { ...moved, creator: principal } : moved;
  return disabledReason === undefined || isEnabled ? owned : { ...owned, disabledReason };
};

/**
 * True when it runs in the name of the caller from now on (J7): of one who enables a schedule that lost its credential, and of one
 * bound to a project who says what a schedule of another caller does, or that it does it.
 */
const takesOver = (
  { creator, isEnabled: wasEnabled, disabledReason }: Schedule,
  { fields, principal }: Pick<Change, 'fields' | 'principal'>,
): boolean => {
  const { name: _, isEnabled = wasEnabled, ...work } = fields;
  if (disabledReason !== undefined && isEnabled) return true;
  const isBoundOther = projectOf(principal.scope) !== undefined && creator.tokenHash !== principal.tokenHash;
  return isBoundOther && (Object.keys(work).length > 0 || (isEnabled && !wasEnabled));
};

export const removeSchedule = async (
  ports: ScheduleDeps,
  principal: Principal,
  id: string,
): Promise<Schedule> => {
  const removed = await changeSchedule(ports, { id, principal }, (schedule, now) => ({
    next: deletedSchedule(schedule, now),
  }));
  await announce(ports, principal, { action: 'schedule.delete', schedule: removed });
  return removed;
};

/** The runs that begin now, one per target; a disabled schedule runs by hand, too. */
export const triggerSchedule = async (
  ports: ScheduleDeps,
  principal: Principal,
  id: string,
): Promise<readonly Run[]> => {
  const runAt = ports.world.now();
  const byHand = ports.world.uuid();
  let runs: readonly Run[] = [];
  const schedule = await changeSchedule(ports, { id, principal }, (read, at) => {
    runs = newRuns(read, { runAt, at, byHand });
    return { next: { ...read, lastRunAt: Math.max(runAt, read.lastRunAt ?? 0) }, runs };
  });
  await announce(ports, principal, { action: 'schedule.trigger', schedule });
  return runs;
};

/** Every project, and every workspace of it, exists and is the caller's to use. */
const checkTargets = async (
  ports: ScheduleDeps,
  principal: Principal,
  targets: readonly ScheduleTarget[],
): Promise<void> => {
  for (const { project: id, workspace } of targets) {
    const project = await findProject(ports.projects, { id, principal, intent: 'write' });
    await resolveWorkspace(ports, { project, principal }, { id: workspace, creates: false });
  }
};

const validFields = (options: ScheduleOptions, names: FieldNames): Partial<ScheduleFields> => {
  const result = validateSchedule(options, names);
  if (result.ok) return result.fields;
  throw invalid(result.problem);
};

const invalid = (problem: string): AppError =>
  new AppError('invalid_request', problem, { recoveryActions: ['correct_arguments'] });

type Decision = { readonly next: Schedule; readonly runs?: readonly Run[] };

/** One change over the version that was read, retried after a concurrent write. The schedule as it was written. */
const changeSchedule = (
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

const tooManySchedules = (): AppError =>
  new AppError('resource_limit_exceeded', `a project has at most ${schedulesPerProjectMax} schedules`, {
    suggestions: ['Delete one that is no longer needed.'],
  });

type Announced = {
  readonly action: `schedule.${'create' | 'update' | 'delete' | 'trigger'}`;
  readonly schedule: Pick<Schedule, 'id' | 'targets'>;
};

/** A row names one project: that of all targets, if they are in one. */
const soleProject = ({ targets }: Pick<Schedule, 'targets'>): ProjectId | undefined => {
  const [project, ...others] = new Set(targets.map((target) => target.project));
  return others.length === 0 ? project : undefined;
};

/** Writes the audit row and dispatches the schedule; the sweep replaces a lost invocation. */
const announce = async (
  ports: ScheduleDeps,
  principal: Principal,
  { action, schedule }: Announced,
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
