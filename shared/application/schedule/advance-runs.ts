/**
 * Drives the open runs of one schedule: starts those that this caller has claimed or that were abandoned, checks
 * those that are due, and those that block another.
 *
 * A run whose creator's credential holds no more is not started, and disables its schedule, with that reason
 * (J7).
 */

import { familyOfClient } from '../../domain/oauth/grant.ts';
import { startGraceMs } from '../../domain/schedule/limits.ts';
import { type ScheduleState, scheduleDueAt } from '../../domain/schedule/next-step.ts';
import { isOpen, isOverdue, type Run, runName } from '../../domain/schedule/run.ts';
import { type Schedule, type ScheduleTarget, targetKey } from '../../domain/schedule/schedule.ts';
import { runFailed } from '../../domain/webhook/notice.ts';
import { stillHolds } from '../access/authenticate.ts';
import { holdsGrant } from '../access/connected-clients.ts';
import { noticesOf, sendNotices } from '../events/webhook-notices.ts';
import { end, hasSpoken, pollRun } from './poll-run.ts';
import type { RunDeps } from './schedule-conversation.ts';
import { messageOf, startRun } from './start-run.ts';

export type Drive = {
  readonly state: ScheduleState;
  /** Names of the runs that this caller has just claimed. */
  readonly claimed: ReadonlySet<string>;
};

export const advanceRuns = async (ports: RunDeps, drive: Drive): Promise<void> => {
  const { schedule, open } = drive.state;
  const byTarget = Map.groupBy(open, ({ target }) => (target === undefined ? '' : targetKey(target)));
  const results = await Promise.allSettled(
    [...byTarget.values()].map((runs) => advanceTarget(ports, runs, drive)),
  );
  for (const result of results)
    if (result.status === 'rejected')
      ports.telemetry.error('a run was not driven', {
        error: result.reason,
        scheduleId: schedule.id,
      });
  const failure = results.find((result) => result.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
};

/**
 * Those that have begun first, and oldest first, so that each knows which of the ones before it have ended: a run by hand may begin
 * before one of an earlier moment is claimed.
 */
const advanceTarget = async (ports: RunDeps, open: readonly Run[], drive: Drive): Promise<void> => {
  const runs = [...open.filter(hasBegun), ...open.filter((run) => !hasBegun(run))];
  const now = ports.world.now();
  const isOurs = (run: Run): boolean => drive.claimed.has(runName(run)) || (run.dueAt ?? 0) <= now;
  const last = runs.findLastIndex((run) => run.state !== 'running' && isOurs(run));
  const standing: Run[] = [];
  for (const [index, run] of runs.entries()) {
    // A run that blocks a later one is checked now.
    const isAsked = isOurs(run) || (run.state === 'running' && index < last);
    const before = standing.filter(({ state }) => isOpen(state));
    standing.push(
      isAsked ? await advanceRun(ports, run, { ...drive, state: { ...drive.state, open: before } }) : run,
    );
  }
};

/** One that has chosen its session may have spoken. */
const hasBegun = ({ state, session }: Run): boolean => state === 'running' || session !== undefined;

const advanceRun = async (ports: RunDeps, run: Run, drive: Drive): Promise<Run> => {
  if (run.state === 'running') return look(ports, run, drive.state.schedule);
  const taken = drive.claimed.has(runName(run)) ? run : await takeOver(ports, run);
  if (taken === undefined) return run;
  const started = await start(ports, taken, drive);
  if (started === undefined) return run;
  await keep(ports, started, drive.state.schedule);
  return started;
};

/** The session of a run that is over ends before the run is kept: after a death in between the run is found again. */
const look = async (ports: RunDeps, run: Run, schedule: Schedule): Promise<Run> => {
  const { run: seen, over } = await pollRun(ports, run);
  if (over !== undefined) await ports.converse.end(over);
  await keep(ports, seen, schedule);
  return seen;
};

/**
 * Those runs of a deleted schedule that still have a session which ends with them. One whose dispatcher died may have spoken: it
 * is looked for by the message that it sends.
 */
export const endAlone = async (
  ports: RunDeps,
  { schedule, open }: ScheduleState,
): Promise<readonly Run[]> => {
  const now = ports.world.now();
  const alone = open.filter(({ isAlone, session }) => isAlone && session !== undefined);
  const left: Run[] = [];
  for (const run of alone) {
    const seen = (run.dueAt ?? 0) > now ? run : await look(ports, asSpoken(run), schedule);
    if (isOpen(seen.state)) left.push(seen);
  }
  return left;
};

const asSpoken = (run: Run): Run =>
  run.state === 'running' ? run : { ...run, state: 'running', message: messageOf(run), since: -1 };

/** It was abandoned, or it waited: one of any number of sweeps goes on with it. */
const takeOver = async ({ schedules, world }: RunDeps, run: Run): Promise<Run | undefined> => {
  const taken = { ...run, dueAt: world.now() + startGraceMs };
  return (await schedules.saveRun(taken)) ? { ...taken, version: run.version + 1 } : undefined;
};

/** Undefined when it is another caller's by now, or its schedule is deleted. */
const start = async (ports: RunDeps, run: Run, { state }: Drive): Promise<Run | undefined> => {
  const at = ports.world.now();
  const { target } = run;
  if (target === undefined || isOverdue(run, at))
    return refused(ports, run, 'it could not be started in time');
  if ((await ports.projects.get(target.project)) === undefined && hasOther(state.schedule, target))
    return refused(ports, run, 'its project was deleted');
  const problem = await hindrance(ports, state.schedule, target);
  if (problem !== undefined) {
    await disable(ports, state.schedule, problem);
    return refused(ports, run, problem);
  }
  return startRun(ports, { state, run: { ...run, target } });
};

/** One that was taken over may have spoken: then it has started, and goes on to its end. */
const refused = async (ports: RunDeps, run: Run, problem: string): Promise<Run> => {
  const spoken = asSpoken(run);
  return (await hasSpoken(ports, spoken))
    ? spoken
    : end(run, 'refused', { endedAt: ports.world.now(), problem });
};

/** Its other runs go on: emptying the project takes it out. */
const hasOther = ({ targets }: Schedule, { project }: ScheduleTarget): boolean =>
  targets.some((target) => target.project !== project);

/** The reason for which it can never run again unchanged. */
const hindrance = async (
  ports: RunDeps,
  schedule: Schedule,
  { project }: ScheduleTarget,
): Promise<string | undefined> => {
  if (!(await mayAct(ports, schedule))) return 'the credential of its creator is no longer valid';
  if ((await ports.projects.get(project)) === undefined) return 'a project it runs in was deleted';
  return undefined;
};

/**
 * A person is vouched for only while they are signed in: their schedules go on until they are stopped. Those of a client that the
 * holder of a token connected go on while it is connected: its access tokens last for minutes.
 */
const mayAct = async (ports: RunDeps, { creator }: Schedule): Promise<boolean> => {
  if (creator.isPerson) return true;
  const family = familyOfClient(creator);
  return family === undefined ? stillHolds(ports, creator) : holdsGrant(ports, family);
};

/** A schedule that is changed concurrently stays enabled until its next run. */
const disable = async (
  { schedules, world, telemetry }: RunDeps,
  read: Schedule,
  disabledReason: string,
): Promise<void> => {
  const { nextRunAt: _, ...rest } = read;
  const at = world.now();
  const next = { ...rest, isEnabled: false, disabledReason, updatedAt: at };
  await schedules.write(next, { read, dueAt: scheduleDueAt(next, at) });
  telemetry.warn('a schedule was disabled', { event: 'schedule_disabled', scheduleId: read.id });
};

/** False when another caller was first. */
const keep = async (ports: RunDeps, run: Run, schedule: Schedule): Promise<boolean> => {
  const { schedules, telemetry, world } = ports;
  const occurrences = run.state === 'failed' ? [runFailed(schedule, run)] : [];
  const notices = await noticesOf(ports, occurrences, run.endedAt ?? world.now());
  if (!(await schedules.saveRun(run, notices))) return false;
  await sendNotices(ports, notices);
  if (run.state === 'success' || run.state === 'failed') telemetry.count('ScheduleRuns');
  if (run.state === 'failed') {
    telemetry.count('ScheduleRunsFailed');
    const { schedule: scheduleId, session: sessionId, runAt } = run;
    telemetry.warn('a run failed', { event: 'schedule_run_failed', scheduleId, sessionId, runAt });
  }
  return true;
};
