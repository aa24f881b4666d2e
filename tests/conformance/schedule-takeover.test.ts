/** Runs that a dispatcher left half done, or whose schedule was deleted as they started: each prompt reaches one session. */

import { describe, expect, test } from 'vitest';
import { dispatchSchedule } from '#shared/application/schedule/dispatch-schedule.ts';
import type { RunDeps } from '#shared/application/schedule/schedule-conversation.ts';
import type { MessageId, SessionId, WorkspaceId } from '#shared/domain/ids.ts';
import { type Schedule, targetKey } from '#shared/domain/schedule/schedule.ts';
import { AppError } from '#shared/errors.ts';
import { newProjectId, newRun } from './schedule-fixture.ts';
import { begin, historyOf, made, minute, openWorld, stateOf, type WorldOfTest } from './schedule-world.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

const target = { project: newProjectId() };
const pinned = () => ({
  session: crypto.randomUUID() as SessionId,
  workspace: crypto.randomUUID() as WorkspaceId,
});

/** A schedule whose target is pinned to a session that takes messages. */
const madePinned = async (world: WorldOfTest, change: Partial<Schedule>) => {
  const schedule = await made(world, { targets: [target], nextRunAt: begin + minute, ...change });
  const pin = pinned();
  await world.ports.converse.message({
    session: pin.session,
    messageId: 'earlier' as MessageId,
    text: 'x',
    principal: schedule.creator,
  });
  await world.ports.schedules.pin(schedule.id, target, { pin, former: undefined });
  world.heard.clear();
  return { schedule, pin };
};

describe('a run of a moment beside a run by hand that began before it was claimed', () => {
  test.each([
    ['skip', 'running', 'skipped'],
    ['skip', 'claimed', 'skipped'],
    ['queue', 'running', 'queued'],
    ['queue', 'claimed', 'queued'],
  ] as const)('%s: the other one is %s, it is %s', async (overlap, state, becomes) => {
    const world = openWorld(fixture.table);
    const { schedule, pin } = await madePinned(world, { overlap, sessions: 'new', cron: '0 0 1 1 *' });
    const { schedule: read } = await stateOf(world, schedule);
    const runAt = begin + minute + 20_000;
    const speaking = { session: pin.session, message: 'earlier' as MessageId, since: 0 };
    const byHand = newRun(schedule, { runAt, part: 'hand-0', isManual: true, state, ...speaking });
    await world.ports.schedules.write(read, {
      read,
      dueAt: undefined,
      runs: [{ ...byHand, claimedAt: runAt, dueAt: runAt + minute }],
    });
    world.at.now = runAt + 25_000;
    await world.dispatch(schedule.id, begin + minute);
    const runs = [...(await historyOf(world, schedule)), ...(await stateOf(world, schedule)).open];
    expect(runs.find((run) => run.runAt === begin + minute)?.state).toBe(becomes);
    expect(world.heard.size).toBe(0);
  });
});

/** The dispatcher of the schedule's moment dies after it has spoken. */
const dieAfterSpeaking = async ({ ports, at, heard }: WorldOfTest, { id }: Schedule) => {
  const dying: RunDeps = {
    ...ports,
    schedules: {
      ...ports.schedules,
      saveRun: async (run) => {
        if (run.runAt === begin + minute) throw new Error('it died');
        return ports.schedules.saveRun(run);
      },
    },
  };
  at.now = begin + minute;
  await expect(dispatchSchedule(dying, { id, runAt: begin + minute })).rejects.toThrow('it died');
  expect(heard.size).toBe(1);
  at.now += 31_000;
};

describe('J6: a run that had spoken and is taken over', () => {
  test('speaks in its own session again, although the run beside which it began has ended', async () => {
    const world = openWorld(fixture.table);
    const { schedule, pin } = await madePinned(world, { overlap: 'parallel' });
    const { schedule: read } = await stateOf(world, schedule);
    const message = 'earlier' as MessageId;
    const former = newRun(schedule, {
      runAt: begin,
      state: 'running',
      session: pin.session,
      message,
      since: 0,
    });
    await world.ports.schedules.write(read, { read, dueAt: undefined, runs: [former] });
    await dieAfterSpeaking(world, schedule);
    world.complete(pin.session);
    await world.dispatch(schedule.id);
    await world.dispatch(schedule.id);
    const [run] = (await stateOf(world, schedule)).open.filter(({ runAt }) => runAt === begin + minute);
    expect(run).toMatchObject({ state: 'running', isAlone: true });
    expect([...world.heard]).toEqual([`${run?.session} ${run?.message}`]);
    expect((await stateOf(world, schedule)).pins).toEqual(new Map([[targetKey(target), pin]]));
  });

  test('does not speak elsewhere, although the session that it spoke in has ended', async () => {
    const world = openWorld(fixture.table);
    const { schedule, pin } = await madePinned(world, { cron: '0 0 1 1 *' });
    await dieAfterSpeaking(world, schedule);
    world.complete(pin.session);
    world.over.add(pin.session);
    await world.dispatch(schedule.id);
    world.at.now += 2 * minute;
    await world.dispatch(schedule.id);
    expect((await historyOf(world, schedule)).at(-1)).toMatchObject({
      state: 'success',
      session: pin.session,
      output: 'ok',
    });
    expect([...world.heard].filter((one) => one.includes(`-${begin + minute}-`))).toHaveLength(1);
  });

  test.each<[string, (world: WorldOfTest) => void]>([
    ['its credential is revoked', ({ faults }) => Object.assign(faults, { token: 'gone' })],
    ['its time to start is over', ({ at }) => Object.assign(at, { now: at.now + 60 * minute })],
  ])('goes on to its end and ends its session, although meanwhile %s', async (_, happens) => {
    const world = openWorld(fixture.table);
    const schedule = await made(world, { sessions: 'new', cron: '0 0 1 1 *' });
    await dieAfterSpeaking(world, schedule);
    happens(world);
    await world.dispatch(schedule.id);
    const [run] = (await stateOf(world, schedule)).open;
    expect(run).toMatchObject({ state: 'running', isAlone: true });
    world.complete(run?.session);
    world.at.now += 2 * minute;
    await world.dispatch(schedule.id);
    expect(await historyOf(world, schedule)).toMatchObject([{ state: 'success', output: 'ok' }]);
    expect(world.over).toEqual(new Set([run?.session]));
  });

  test('keeps the pin of the session that it made', async () => {
    const world = openWorld(fixture.table);
    const schedule = await made(world, { targets: [target] });
    await dieAfterSpeaking(world, schedule);
    await world.dispatch(schedule.id);
    const { open, pins } = await stateOf(world, schedule);
    const [run] = open;
    expect(run).toMatchObject({ state: 'running', since: -1 });
    expect(run?.isAlone).toBeUndefined();
    expect(pins.get(targetKey(target))?.session).toBe(run?.session);
    expect(world.heard.size).toBe(1);
  });
});

describe('a run whose pinned session has ended', () => {
  const endedPin = async () => {
    const world = openWorld(fixture.table);
    const { schedule, pin } = await madePinned(world, { cron: '0 0 1 1 *' });
    world.over.add(pin.session);
    world.at.now = begin + minute;
    return { world, schedule, pin };
  };

  test('speaks in that session, which is resumed', async () => {
    const { world, schedule, pin } = await endedPin();
    await world.dispatch(schedule.id, begin + minute);
    const { open, pins } = await stateOf(world, schedule);
    expect(open).toMatchObject([{ state: 'running', session: pin.session }]);
    expect(pins).toEqual(new Map([[targetKey(target), pin]]));
  });

  test('J6: speaks in one of its own, which is recorded first and pinned, where it can be resumed no more', async () => {
    const { world, schedule, pin } = await endedPin();
    const { converse } = world.ports;
    const recorded: (string | undefined)[] = [];
    const refuses: RunDeps = {
      ...world.ports,
      converse: {
        ...converse,
        message: () => Promise.reject(new AppError('invalid_session_state', 'its history is gone')),
        spawn: async (request) => {
          recorded.push((await stateOf(world, schedule)).open[0]?.session, request.id);
          expect(request.workspace).toBe(pin.workspace);
          return converse.spawn(request);
        },
      },
    };
    await dispatchSchedule(refuses, { id: schedule.id, runAt: begin + minute });
    const { open, pins } = await stateOf(world, schedule);
    const [run] = open;
    expect(run).toMatchObject({ state: 'running' });
    expect(run?.isAlone).toBeUndefined();
    expect(recorded).toEqual([run?.session, run?.session]);
    expect(run?.session).not.toBe(pin.session);
    expect(pins.get(targetKey(target))?.session).toBe(run?.session);
  });
});

describe('J6: a run whose pinned session is deleted once it was recorded', () => {
  const notFound = () => new AppError('session_not_found', 'there is no such session');

  test('speaks in one of its own, which is pinned', async () => {
    const world = openWorld(fixture.table);
    const { schedule, pin } = await madePinned(world, { cron: '0 0 1 1 *' });
    world.at.now = begin + minute;
    const deletes: RunDeps = {
      ...world.ports,
      converse: {
        ...world.ports.converse,
        message: ({ session }) => {
          world.forget(session);
          return Promise.reject(notFound());
        },
      },
    };
    await dispatchSchedule(deletes, { id: schedule.id, runAt: begin + minute });
    const { open, pins } = await stateOf(world, schedule);
    expect(open).toMatchObject([{ state: 'running' }]);
    expect(open[0]?.session).not.toBe(pin.session);
    expect(pins.get(targetKey(target))?.session).toBe(open[0]?.session);
    expect(world.heard.size).toBe(1);
  });

  test('speaks nowhere else when it was taken over, and says why', async () => {
    const world = openWorld(fixture.table);
    const { schedule, pin } = await madePinned(world, { cron: '0 0 1 1 *' });
    await dieAfterSpeaking(world, schedule);
    world.forget(pin.session);
    const { converse } = world.ports;
    const deleted = { ...converse, message: () => Promise.reject(notFound()) };
    await dispatchSchedule({ ...world.ports, converse: deleted }, { id: schedule.id });
    expect(await historyOf(world, schedule)).toMatchObject([
      { state: 'failed', problem: expect.stringContaining('whether the prompt had reached it') },
    ]);
    expect(world.heard.size).toBe(1);
  });

  test('fails where that session only may not be spoken in', async () => {
    const world = openWorld(fixture.table);
    const { schedule } = await madePinned(world, { cron: '0 0 1 1 *' });
    world.at.now = begin + minute;
    const { converse } = world.ports;
    const hidden = { ...converse, message: () => Promise.reject(notFound()) };
    await dispatchSchedule({ ...world.ports, converse: hidden }, { id: schedule.id, runAt: begin + minute });
    expect(await historyOf(world, schedule)).toMatchObject([{ state: 'failed' }]);
    expect(world.heard.size).toBe(0);
  });
});

test('J6: a dispatcher whose run was taken over before it spoke does not speak', async () => {
  const world = openWorld(fixture.table);
  const schedule = await made(world);
  world.at.now = begin + minute;
  const slow: RunDeps = {
    ...world.ports,
    tokens: {
      ...world.ports.tokens,
      get: async (hash) => {
        world.at.now += 31_000;
        await world.dispatch(schedule.id);
        const [run] = (await stateOf(world, schedule)).open;
        world.asked.splice(0);
        world.over.add(run?.session ?? '');
        return world.ports.tokens.get(hash);
      },
    },
  };
  await dispatchSchedule(slow, { id: schedule.id, runAt: begin + minute });
  expect([world.asked, world.heard.size]).toEqual([[], 1]);
});

const deleted = async (world: WorldOfTest, { id }: Schedule): Promise<void> => {
  const state = await world.ports.schedules.find(id);
  if (state === undefined) throw new Error('there is no such schedule');
  const { nextRunAt: _, ...rest } = state.schedule;
  await world.ports.schedules.write(
    { ...rest, isEnabled: false, isDeleted: true },
    { read: state.schedule, dueAt: begin },
  );
};

test('J8: a run does not start whose schedule is deleted while its dispatcher looks at it', async () => {
  const world = openWorld(fixture.table);
  const schedule = await made(world);
  world.at.now = begin + minute;
  const deletes: RunDeps = {
    ...world.ports,
    tokens: {
      ...world.ports.tokens,
      get: async (hash) => {
        await deleted(world, schedule);
        return world.ports.tokens.get(hash);
      },
    },
  };
  await dispatchSchedule(deletes, { id: schedule.id, runAt: begin + minute });
  expect(world.said).toEqual([]);
  await world.dispatch(schedule.id);
  expect(await world.ports.schedules.find(schedule.id)).toBeUndefined();
});

test('a session that was made as its target left the schedule is not pinned, and ends with its run', async () => {
  const world = openWorld(fixture.table);
  const schedule = await made(world, { targets: [target] });
  world.at.now = begin + minute;
  const { converse } = world.ports;
  const leaves: RunDeps = {
    ...world.ports,
    converse: {
      ...converse,
      spawn: async (request) => {
        const conversation = await converse.spawn(request);
        const { schedule: read } = await stateOf(world, schedule);
        const other = { ...read, targets: [{ project: newProjectId() }] };
        await world.ports.schedules.write(other, { read, dueAt: undefined, schedulesMax: 50 });
        return conversation;
      },
    },
  };
  await dispatchSchedule(leaves, { id: schedule.id, runAt: begin + minute });
  const { open, pins } = await stateOf(world, schedule);
  expect(open).toMatchObject([{ state: 'running', isAlone: true }]);
  expect(pins).toEqual(new Map());
});
