/**
 * Tending on a real table, with a scheduler and sessions that do as they are told: one moment is run once whoever comes
 * and however often, what is left half done is taken up by one, and nothing waits for a scheduler that fails.
 */

import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { makeScheduleStore } from '#shared/adapters/aws/dynamo/schedules.ts';
import { makeWebhookStore } from '#shared/adapters/aws/dynamo/webhooks.ts';
import { dispatchSchedule } from '#shared/application/schedule/run-schedule.ts';
import type { Conversation, RunDeps, Spoken } from '#shared/application/schedule/schedule-conversation.ts';
import { sweepSchedules } from '#shared/application/schedule/sweep-schedules.ts';
import type { LogEvent } from '#shared/domain/event-log.ts';
import type { SessionId, TurnId, WorkspaceId } from '#shared/domain/ids.ts';
import type { Run } from '#shared/domain/schedule/run.ts';
import type { Schedule } from '#shared/domain/schedule/schedule.ts';
import { AppError } from '#shared/errors.ts';
import type { TokenStore } from '#shared/ports/access.ts';
import type { EventLog } from '#shared/ports/event-log.ts';
import type { ProjectStore } from '#shared/ports/projects.ts';
import type { SessionStore } from '#shared/ports/session-store.ts';
import type { TurnStore } from '#shared/ports/turn-store.ts';
import { fake } from '../fake.ts';
import { newRun, newSchedule } from './schedule-fixture.ts';
import { atOnce, newSession } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

const minute = 60_000;
const begin = 1_800_000_000_000 - (1_800_000_000_000 % minute);

/** A deployment whose clock stands still until it is set. */
const openWorld = () => {
  const at = { now: begin };
  const said: string[] = [];
  const asked: string[] = [];
  const armed: string[] = [];
  const counted: string[] = [];
  const logs = new Map<string, LogEvent[]>();
  const faults: { arm?: Error; speak?: Error; token?: 'gone' } = {};
  const speak = async (session: SessionId, { messageId }: Spoken): Promise<Conversation> => {
    if (faults.speak !== undefined) throw faults.speak;
    asked.push(messageId);
    const log = logs.get(session) ?? [];
    const lastEventIndex = log.length - 1;
    if (!said.includes(messageId)) {
      said.push(messageId);
      const data = { messageId, role: 'user' as const, text: 'x' };
      log.push({ type: 'message', data, seq: log.length, at: at.now });
    }
    logs.set(session, log);
    return { session, workspace: 'w' as WorkspaceId, lastEventIndex };
  };
  const noticed: string[] = [];
  const ports = fake<RunDeps>({
    schedules: makeScheduleStore(fixture.table),
    webhooks: makeWebhookStore(fixture.table),
    noticeSender: { sendNotices: async (ids) => void noticed.push(...ids) },
    scheduler: {
      arm: async (id, runAt) => {
        if (faults.arm !== undefined) throw faults.arm;
        armed.push(`${id} ${runAt}`);
      },
      disarm: async (id, runAt) => void armed.splice(armed.indexOf(`${id} ${runAt}`), 1),
    },
    converse: {
      message: (request) => speak(request.session, request),
      spawn: (request) => speak(request.id, request),
      end: async () => undefined,
    },
    sessions: fake<SessionStore>({
      get: async (id) =>
        logs.has(id)
          ? newSession({ id, status: 'idle', lastSeq: (logs.get(id)?.length ?? 0) - 1 })
          : undefined,
    }),
    eventLog: fake<EventLog>({
      read: async (id, { since }) => ({
        events: (logs.get(id) ?? []).filter(({ seq }) => seq > since),
        hasMore: false,
      }),
    }),
    turns: fake<TurnStore>({
      loadWork: () => Promise.reject(new Error('no log here is that long')),
    }),
    projects: fake<ProjectStore>({
      get: async (id) => ({ id, owner: 'o' as never, name: 'p', createdAt: 1 }),
    }),
    tokens: fake<TokenStore>({ get: async (hash) => (faults.token ? undefined : ({ hash } as never)) }),
    adminTokenHash: 'another',
    telemetry: {
      info() {},
      warn() {},
      error() {},
      duration() {},
      count: (metric) => void counted.push(metric),
    },
    world: {
      now: () => at.now,
      uuid: () => crypto.randomUUID(),
      sha256: (text) => createHash('sha256').update(text).digest('hex'),
      sleep: async (milliseconds) => {
        at.now += milliseconds;
      },
    },
  });
  const complete = (session: string | undefined): void => {
    const log = logs.get(session ?? '') ?? [];
    const usage = { inputTokens: 0, outputTokens: 0 };
    const data = {
      turnId: 't' as TurnId,
      stopReason: 'end_turn' as const,
      text: 'ok',
      usage,
      sessionCostUsd: 0,
    };
    log.push({ type: 'completion', data, seq: log.length, at: at.now });
  };
  const dispatch = (id: Schedule['id'], runAt?: number) => dispatchSchedule(ports, { id, runAt });
  return { at, said, asked, armed, counted, faults, ports, dispatch, complete };
};

type WorldOfTest = ReturnType<typeof openWorld>;

const made = async ({ ports }: WorldOfTest, change: Partial<Schedule> = {}): Promise<Schedule> => {
  const schedule = newSchedule({ nextRunAt: begin + minute, ...change });
  await ports.schedules.create(schedule, { dueAt: begin, schedulesMax: 50 });
  return schedule;
};
const stateOf = async ({ ports }: WorldOfTest, { id }: Schedule) => {
  const state = await ports.schedules.find(id);
  if (state === undefined) throw new Error('there is no such schedule');
  return state;
};
const historyOf = async ({ ports, at }: WorldOfTest, { id }: Schedule): Promise<readonly Run[]> =>
  (await ports.schedules.history(id, { itemsMax: 100, now: at.now })).runs;

describe('J1: one moment', () => {
  test('is run once, for twenty invocations or twenty sweeps', async () => {
    const world = openWorld();
    const schedule = await made(world);
    await world.dispatch(schedule.id);
    world.at.now = begin + minute + 200;
    await Promise.allSettled(await atOnce(20, async () => world.dispatch(schedule.id, begin + minute)));
    world.at.now = begin + 4 * minute;
    await world.dispatch(schedule.id, begin + minute);
    expect(world.said.filter((id) => id.includes(`-${begin + minute}-`))).toHaveLength(1);
  });

  test('that was missed is run once, late, and the next is computed from now', async () => {
    const world = openWorld();
    const schedule = await made(world, { overlap: 'parallel' });
    await world.dispatch(schedule.id);
    world.at.now = begin + 10 * minute + 5;
    await Promise.allSettled(await atOnce(10, async () => sweepSchedules(world.ports)));
    const { open, schedule: after } = await stateOf(world, schedule);
    expect(open).toMatchObject([{ runAt: begin + minute, isLate: true, state: 'running' }]);
    expect(after.nextRunAt).toBe(begin + 11 * minute);
  });

  test('of a changed expression is not run', async () => {
    const world = openWorld();
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
    const world = openWorld();
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
    const world = openWorld();
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
  const world = openWorld();
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
    const world = openWorld();
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
    const world = openWorld();
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
    const world = openWorld();
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
    const world = openWorld();
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
  const world = openWorld();
  const schedule = await made(world);
  world.at.now = begin + minute;
  world.faults.token = 'gone';
  await world.dispatch(schedule.id, begin + minute);
  const problem = 'the credential of its creator is no longer valid: the schedule is disabled';
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

test('J8: a deleted schedule is disarmed and deleted, and runs no more', async () => {
  const world = openWorld();
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
