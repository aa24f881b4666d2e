/**
 * Dispatches one schedule: claims a run that is due, arms the next, starts the claimed runs, checks the running
 * ones, cleans up after a deleted schedule.
 *
 * Safe to do concurrently, twice and late: a run is claimed by one write (J1), the next is armed before anything
 * is started (J3), and one caller takes over an abandoned run (J6).
 */

import { startGraceMs } from '../../domain/schedule/limits.ts';
import {
  nextStep,
  rescheduled,
  type ScheduleState,
  type ScheduleStep,
  scheduleDueAt,
} from '../../domain/schedule/next-step.ts';
import { isLateStart, type Run, runName } from '../../domain/schedule/run.ts';
import type { Schedule, ScheduleId } from '../../domain/schedule/schedule.ts';
import { changesTooOften, raceLost, untilWon } from '../write-race.ts';
import { advanceRuns, endAlone } from './advance-runs.ts';
import type { RunDeps } from './schedule-conversation.ts';

export type Dispatching = {
  readonly id: ScheduleId;
  /** The run for which the scheduler invoked: it counts as due, whatever our clock says. */
  readonly runAt?: number | undefined;
};

export const dispatchSchedule = async (ports: RunDeps, tending: Dispatching): Promise<void> => {
  const claimed = new Set<string>();
  return untilWon(
    async () => {
      const state = await ports.schedules.find(tending.id);
      if (state === undefined) return;
      const step = stepOf(state.schedule, tending, ports.world.now());
      if (step.step === 'clear') return clear(ports, state);
      if (step.step === 'rest') return advanceRuns(ports, { state, claimed });
      try {
        for (const run of await take(ports, state.schedule, step)) claimed.add(run);
      } catch (error) {
        // Claimed runs are started even if arming failed: the next dispatch arms.
        await advanceRuns(ports, { state, claimed });
        throw error;
      }
      return raceLost;
    },
    changesTooOften(`schedule ${tending.id}`),
  );
};

const stepOf = (schedule: Schedule, { runAt }: Dispatching, now: number): ScheduleStep =>
  runAt !== undefined && schedule.nextRunAt === runAt && !schedule.isDeleted
    ? { step: 'run', runAt, waitMs: 0 }
    : nextStep(schedule, now);

type Moving = Exclude<ScheduleStep, { step: 'clear' | 'rest' }>;

/** The names of the runs that this caller claimed; none when another caller was first. */
const take = async (ports: RunDeps, schedule: Schedule, step: Moving): Promise<readonly string[]> => {
  const { scheduler, schedules, world } = ports;
  if (step.step === 'run') {
    await world.sleep(step.waitMs);
    return claim(ports, schedule, step.runAt);
  }
  if (step.step === 'arm') await scheduler.arm(schedule.id, step.runAt);
  if (step.disarm !== undefined) await scheduler.disarm(schedule.id, step.disarm);
  const { armedFor: _, ...unarmed } = schedule;
  const next = step.step === 'arm' ? { ...unarmed, armedFor: step.runAt } : unarmed;
  await schedules.write(next, { read: schedule, dueAt: scheduleDueAt(next, world.now()) });
  return [];
};

const claim = async (
  { schedules, world, telemetry }: RunDeps,
  schedule: Schedule,
  runAt: number,
): Promise<readonly string[]> => {
  const at = world.now();
  const runs = newRuns(schedule, { runAt, at });
  const { armedFor: _, ...unarmed } = schedule;
  // A run by hand may have begun since this moment was due.
  const lastRunAt = Math.max(runAt, schedule.lastRunAt ?? 0);
  const next = rescheduled({ ...unarmed, lastRunAt }, at);
  const written = await schedules.write(next, { read: schedule, dueAt: scheduleDueAt(next, at), runs });
  if (typeof written === 'string') return [];
  if (isLateStart(runAt, at))
    telemetry.warn('a run was missed and starts late', {
      event: 'schedule_run_late',
      scheduleId: schedule.id,
      runAt,
      lateMs: at - runAt,
    });
  return runs.map(runName);
};

type Moment = {
  readonly runAt: number;
  readonly at: number;
  /** The name of a run that was triggered by hand. */
  readonly byHand?: string;
};

/** One per target (J2). */
export const newRuns = ({ id, targets }: Schedule, { runAt, at, byHand }: Moment): readonly Run[] =>
  targets.map((target, index) => ({
    schedule: id,
    runAt,
    part: byHand === undefined ? String(index) : `${byHand}-${index}`,
    target,
    isManual: byHand !== undefined,
    isLate: byHand === undefined && isLateStart(runAt, at),
    state: 'claimed',
    claimedAt: at,
    // The claimant of a scheduled run starts it; any dispatcher may start one by hand.
    dueAt: byHand === undefined ? at + startGraceMs : at,
    version: 0,
  }));

/** It is hidden already; its remains are deleted (J8), once the sessions have ended that end with its runs. */
const clear = async (ports: RunDeps, state: ScheduleState): Promise<typeof raceLost | undefined> => {
  const { scheduler, schedules, world } = ports;
  const { armedFor, ...schedule } = state.schedule;
  if (armedFor !== undefined) await scheduler.disarm(schedule.id, armedFor);
  const left = await endAlone(ports, state);
  if (left.length > 0) {
    const dueAt = Math.min(...left.map((run) => run.dueAt ?? world.now()));
    const written = await schedules.write(schedule, { read: state.schedule, dueAt });
    return typeof written === 'string' ? raceLost : undefined;
  }
  await schedules.clear(state);
  return undefined;
};
