/**
 * Tending on a real table, with a scheduler and sessions that do as they are told: one moment is run once whoever comes
 * and however often, what is left half done is taken up by one, and nothing waits for a scheduler that fails.
 */

import { describe, expect, test } from 'vitest';
import { dispatchSchedule } from '#shared/application/schedule/dispatch-schedule.ts';
import type { RunDeps } from '#shared/application/schedule/schedule-conversation.ts';
import { sweepSchedules } from '#shared/application/schedule/sweep-schedules.ts';
import { AppError } from '#shared/errors.ts';
import { newRun } from './schedule-fixture.ts';
import { begin, historyOf, made, minute, openWorld, stateOf } from './schedule-world.ts';
import { atOnce } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

describe('J1: one moment', () => {
  test('is run once, for twenty invocations or twenty sweeps', async () => {
    const world = openWorld(fixture.table);
    const schedule = await made(world);
    await world.dispatch(schedule.id);
    world.at.now = begin + minute + 200;
    await Promise.allSettled(await atOnce(20, async () => world.dispatch(schedule.id, begin + minute)));
    world.at.now = begin + 4 * minute;
    await world.dispatch(schedule.id, begin + minute);
    expect(world.said.filter((id) => id.includes(`-${begin + minute}-`))).toHaveLength(1);
  });

  test('that was missed is run once, late, and the next is computed from now', async () => {
    const world = openWorld(fixture.table);
    const schedule = await made(world, { overlap: 'parallel' });
    await world.dispatch(schedule.id);
    world.at.now = begin + 10 * minute + 5;
    await Promise.allSettled(await atOnce(10, async () => sweepSchedules(world.ports)));
    const { open, schedule: after } = await stateOf(world, schedule);
    expect(open).toMatchObject([{ runAt: begin + minute, isLate: true, state: 'running' }]);
    expect(after.nextRunAt).toBe(begin + 11 * minute);
  });

  test('of a changed expression is not run', async () => {
    const world = openWorld(fixture.table);
    const schedule = await made(world);
    const next = { ...schedule, cron: '0 0 1 1 *', nextRunAt: begin + 1_000_000 * minute };
    await world.ports.schedules.write(next, { read: schedule, dueAt: undefined });
    world.at.now = begin + minute;
    await world.dispatch(schedule.id, begin + minute);
    expect(world.said).toEqual([]);
  });
});

describe('J3: the next moment', () => {
  test('is armed if it is not, and disarmed when it no longer applies', async () => {
    const world = openWorld(fixture.table);
    const schedule = await made(world);
    await world.dispatch(schedule.id);
    expect(world.armed).toEqual([`${schedule.id} ${begin + minute}`]);
    const { schedule: read } = await stateOf(world, schedule);
    const { nextRunAt: _, ...disabled } = { ...read, isEnabled: false };
    await world.ports.schedules.write(disabled, { read, dueAt: begin });
    await world.dispatch(schedule.id);
    expect(world.armed).toEqual([]);
    expect((await stateOf(world, schedule)).schedule.armedFor).toBeUndefined();
  });

  test('does not prevent a claimed run if arming fails, and the sweep arms it', async () => {
    const world = openWorld(fixture.table);
    const schedule = await made(world);
    world.at.now = begin + minute;
    world.faults.arm = new Error('the scheduler is away');
    await expect(world.dispatch(schedule.id, begin + minute)).rejects.toThrow('the scheduler is away');
    expect(world.said).toHaveLength(1);
    delete world.faults.arm;
    world.at.now += 16_000;
    await sweepSchedules(world.ports);
    expect(world.armed).toEqual([`${schedule.id} ${begin + 2 * minute}`]);
  });
});

test('J4: a sweep dispatches all that is due, page after page', async () => {
  const world = openWorld(fixture.table);
  const all = [await made(world), await made(world), await made(world)];
  world.at.now = begin + 2 * minute;
  const { schedules } = world.ports;
  const byOne = { ...world.ports, schedules: { ...schedules, due: (now: number) => schedules.due(now, 1) } };
  const report = await sweepSchedules(byOne);
  expect(report.due).toBeGreaterThanOrEqual(all.length);
  const left = (await Array.fromAsync(schedules.due(world.at.now, 100))).flat();
  expect(left.filter((id) => all.some((schedule) => schedule.id === id))).toEqual([]);
});

describe('J6: an unfinished run', () => {
  test('before its start is started by one of ten sweeps, after a while', async () => {
    const world = openWorld(fixture.table);
    const schedule = await made(world);
    const run = newRun(schedule, { runAt: begin, claimedAt: begin, dueAt: begin + 30_000 });
    await world.ports.schedules.write(
      { ...schedule, armedFor: begin + minute },
      { read: schedule, dueAt: undefined, runs: [run] },
    );
    await sweepSchedules(world.ports);
    expect(world.said).toEqual([]);
    world.at.now = begin + 30_000;
    await Promise.allSettled(await atOnce(10, async () => world.dispatch(schedule.id)));
    expect(world.asked).toHaveLength(1);
    expect((await stateOf(world, schedule)).open).toMatchObject([{ state: 'running', since: -1 }]);
  });

  test('after its message was sent is not sent again', async () => {
    const world = openWorld(fixture.table);
    const schedule = await made(world);
    world.at.now = begin + minute;
    const { saveRun } = world.ports.schedules;
    const lost: RunDeps = {
      ...world.ports,
      schedules: { ...world.ports.schedules, saveRun: () => Promise.reject(new Error('it died')) },
    };
    await expect(dispatchSchedule(lost, { id: schedule.id, runAt: begin + minute })).rejects.toThrow();
    expect(world.said).toHaveLength(1);
    world.at.now += 31_000;
    await dispatchSchedule(
      { ...world.ports, schedules: { ...world.ports.schedules, saveRun } },
      { id: schedule.id },
    );
    expect(world.said).toHaveLength(1);
    const [{ session } = { session: undefined }] = (await stateOf(world, schedule)).open;
    world.complete(session);
    world.at.now += 2 * minute;
    await world.dispatch(schedule.id, begin + minute);
    expect((await historyOf(world, schedule)).at(-1)).toMatchObject({ state: 'success', output: 'ok' });
    expect(world.counted).toEqual(['ScheduleRuns']);
  });

  test('because of a fault is retried until the limit', async () => {
    const world = openWorld(fixture.table);
    const schedule = await made(world, { cron: '0 0 1 1 *' });
    world.at.now = begin + minute;
    world.faults.speak = new Error('the table is away');
    await expect(world.dispatch(schedule.id, begin + minute)).rejects.toThrow('the table is away');
    world.at.now += 31_000;
    await expect(world.dispatch(schedule.id)).rejects.toThrow('the table is away');
    expect(await historyOf(world, schedule)).toEqual([]);
    world.at.now += 900_000;
    await world.dispatch(schedule.id);
    expect(await historyOf(world, schedule)).toMatchObject([
      { state: 'failed', problem: 'it could not be started in time' },
    ]);
  });

  test('because of a refusal has failed, with the reason', async () => {
    const world = openWorld(fixture.table);
    const schedule = await made(world, { cron: '0 0 1 1 *' });
    world.at.now = begin + minute;
    world.faults.speak = new AppError('resource_limit_exceeded', 'no place');
    await world.dispatch(schedule.id, begin + minute);
    expect(await historyOf(world, schedule)).toMatchObject([
      { state: 'failed', problem: 'resource_limit_exceeded: no place' },
    ]);
    expect(world.counted).toEqual(['ScheduleRuns', 'ScheduleRunsFailed']);
  });
});

test('J7: a run without a credential is not started, and disables its schedule', async () => {
  const world = openWorld(fixture.table);
  const schedule = await made(world);
  world.at.now = begin + minute;
  world.faults.token = 'gone';
  await world.dispatch(schedule.id, begin + minute);
  const problem = 'the credential of its creator is no longer valid';
  expect(await historyOf(world, schedule)).toMatchObject([{ state: 'failed', problem }]);
  expect((await stateOf(world, schedule)).schedule).toMatchObject({
    isEnabled: false,
    disabledReason: problem,
  });
  expect(world.said).toEqual([]);
  const person = await made(world, { creator: { ...schedule.creator, isPerson: true, expiresAt: 1 } });
  await world.dispatch(person.id, begin + minute);
  expect(world.said).toHaveLength(1);
});

/** A schedule whose run has a session of its own, in which its agent works. */
const runningAlone = async (dies?: 'before it is kept') => {
  const world = openWorld(fixture.table);
  const schedule = await made(world, { sessions: 'new' });
  world.at.now = begin + minute;
  const died = () => Promise.reject(new Error('it died'));
  const schedules = dies ? { ...world.ports.schedules, saveRun: died } : world.ports.schedules;
  const dispatched = dispatchSchedule(
    { ...world.ports, schedules },
    { id: schedule.id, runAt: begin + minute },
  );
  if (dies) await expect(dispatched).rejects.toThrow('it died');
  else await dispatched;
  const [run] = (await stateOf(world, schedule)).open;
  return { world, schedule, session: run?.session ?? '' };
};

test('a session that was made for one run ends with it, although its dispatcher died before that', async () => {
  const { world, schedule, session } = await runningAlone();
  world.complete(session);
  world.at.now += 2 * minute;
  const end = () => Promise.reject(new Error('it died'));
  const dying = { ...world.ports, converse: { ...world.ports.converse, end } };
  await expect(dispatchSchedule(dying, { id: schedule.id })).rejects.toThrow('it died');
  await world.dispatch(schedule.id);
  expect(world.over).toEqual(new Set([session]));
  expect(await historyOf(world, schedule)).toMatchObject([{ state: 'success', session }]);
});

test.each([undefined, 'before it is kept'] as const)(
  'J8: a session that was made for a run of a deleted schedule ends with it, although its dispatcher died: %s',
  async (dies) => {
    const { world, schedule, session } = await runningAlone(dies);
    const { schedule: read } = await stateOf(world, schedule);
    const { nextRunAt: _, ...gone } = { ...read, isEnabled: false, isDeleted: true as const };
    await world.ports.schedules.write(gone, { read, dueAt: world.at.now });
    for (let look = 0; look < 3; look += 1) {
      await world.dispatch(schedule.id);
      world.at.now += 2 * minute;
    }
    expect([world.said.length, world.over.size]).toEqual([1, 0]);
    world.complete(session);
    await world.dispatch(schedule.id);
    expect(world.over).toEqual(new Set([session]));
    expect(await world.ports.schedules.find(schedule.id)).toBeUndefined();
    expect(await historyOf(world, schedule)).toMatchObject([{ state: 'success', session }]);
  },
);

test('J8: a deleted schedule is disarmed and deleted, and runs no more', async () => {
  const world = openWorld(fixture.table);
  const schedule = await made(world);
  await world.dispatch(schedule.id);
  const { schedule: read } = await stateOf(world, schedule);
  const { nextRunAt: _, ...gone } = { ...read, isEnabled: false, isDeleted: true as const };
  await world.ports.schedules.write(gone, { read, dueAt: begin });
  await world.dispatch(schedule.id, begin + minute);
  expect(await world.ports.schedules.find(schedule.id)).toBeUndefined();
  expect([world.armed, world.said]).toEqual([[], []]);
  await world.dispatch(schedule.id, begin + minute);
});
