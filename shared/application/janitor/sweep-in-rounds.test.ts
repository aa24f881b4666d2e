/** The janitor's sweep of idle sessions and their sandboxes: a turn that waits for a person has nothing to do (L5). */
import { expect, test } from 'vitest';
import {
  inboxLimits,
  message,
  newSandbox,
  newSession,
  workspaceOf,
} from '../../../tests/conformance/session-fixture.ts';
import { lifetimes, openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { CallId, MessageId, SessionId, TurnId } from '../../domain/ids.ts';
import { lateSaveMsMax, orphanAgeMs } from '../../domain/limits.ts';
import type { TurnState } from '../../domain/turn/turn.ts';
import { forgetSession } from '../session/forget-session.ts';
import { sweep } from './sweep-in-rounds.ts';

const running = {
  ...{ turnId: 't' as TurnId, messageId: 'm' as MessageId, step: 1, spentUsd: 0 },
  usage: { inputTokens: 0, outputTokens: 0 },
  policy: { mode: 'ask', grants: [] },
} as const;
const call = {
  ...{ callId: 'c' as CallId, name: 'execute_command', args: {}, askedHuman: true },
  ...{ digest: 'd', askedAt: 'then' },
};
const deciding: TurnState = { ...running, kind: 'deciding', calls: [{ ...call, status: 'pending' }] };
const thinking: TurnState = { ...running, kind: 'thinking' };
const child = { session: 'child' as SessionId, message: 'm' as MessageId };
const awaiting: TurnState = {
  ...running,
  kind: 'acting',
  calls: [{ ...call, name: 'session', status: 'executing', wait: { id: 'w', child, since: 1_000_000 } }],
};

const endAwaiting = async (
  { sessions, turns }: ReturnType<typeof openQuietPorts>['ports'],
  id: SessionId,
): Promise<void> => {
  const session = await sessions.get(id);
  if (session === undefined) throw new Error('the session is not there');
  await turns.commit({
    ...{ session, version: 1, state: { kind: 'idle' }, at: 1, log: [], history: [] },
    ...{ historyNext: 0, historyFrom: 0, historyKept: 0 },
    ...{ release: true, wakes: false, dueAt: 1e12 },
  });
};

/** A session with a ready sandbox, whose turn nobody works on. */
const open = async (state: TurnState) => {
  const quiet = openQuietPorts();
  const { ports, clock } = quiet;
  const made = newSession({ createdAt: clock.now, lastActiveAt: clock.now });
  const { id, workspace } = made;
  await ports.sessions.create(made, { workspace: workspaceOf(made) });
  await ports.workspaces.claimStart(workspace, newSandbox({ requestedAt: clock.now }));
  await ports.workspaces.markReady(workspace, 1, { at: clock.now });
  await ports.inbox.accept(made, message('m', clock.now), inboxLimits);
  const session = (await ports.sessions.get(id)) ?? made;
  await ports.turns.commit({
    ...{ session, version: 0, state, at: clock.now, log: [], history: [] },
    ...{ historyNext: 0, historyFrom: 0, historyKept: 0 },
    ...{ release: true, wakes: false, dueAt: clock.now + lifetimes.idleMs },
  });
  const look = async (milliseconds: number) => {
    clock.now = 1_000_000 + milliseconds;
    await sweep(ports, { lifetimes });
    const [now, { sandbox } = {}] = [await ports.sessions.get(id), await ports.workspaces.get(workspace)];
    return [now?.status, sandbox?.state];
  };
  return { ...quiet, id, look };
};

test('L5: one that waits for a person loses its sandbox when idle, and ends when idle for long', async () => {
  const { ports, id, look } = await open(deciding);
  expect(await look(899_999)).toEqual(['running', 'ready']);
  expect(await look(900_000)).toEqual(['running', 'stopping']);
  expect((await ports.turns.loadWork(id)).turn.state.kind).toBe('deciding');
  expect(await look(86_400_000)).toEqual(['completed', 'stopped']);
  const { events } = await ports.eventLog.read(id, { since: -1, eventsMax: 10 });
  expect(events.map(({ data }) => ('stopReason' in data ? data.stopReason : data))).toContain('cancelled');
});

test('L5: one with pending work keeps both, and is continued', async () => {
  const { look, invoked, id } = await open(thinking);
  expect(await look(900_000)).toEqual(['running', 'ready']);
  expect(await look(86_400_000)).toEqual(['running', 'ready']);
  expect(invoked).toEqual([`turn ${id}`, `turn ${id}`]);
});

test('a session whose turn is over is given back by another function when the one that ended it died', async () => {
  const { ports, look, invoked, id } = await open(thinking);
  const session = await ports.sessions.get(id);
  const { inbox } = await ports.turns.loadWork(id);
  if (session === undefined) throw new Error('the session is not there');
  await ports.turns.commit({
    ...{ session, version: 1, state: { kind: 'idle' }, at: 1_000_001, log: [], history: [] },
    ...{ historyNext: 0, historyFrom: 0, historyKept: 0, completed: inbox[0] },
    ...{ release: false, wakes: false, dueAt: 1_030_000 },
  });
  expect(await look(900_000)).toEqual(['running', 'ready']);
  expect(invoked).toEqual([`turn ${id}`]);
});

test('a turn that no function takes up ends with an error, within four tries', async () => {
  const { ports, look, invoked, id } = await open(thinking);
  for (const at of [900_000, 960_000, 1_020_000]) expect(await look(at)).toEqual(['running', 'ready']);
  expect(invoked).toEqual([`turn ${id}`, `turn ${id}`, `turn ${id}`]);
  expect(await look(1_080_000)).toEqual(['idle', 'ready']);
  const { events } = await ports.eventLog.read(id, { since: -1, eventsMax: 10 });
  expect(events).toMatchObject([
    {
      type: 'agent:error',
      data: { code: 'internal_error', message: expect.stringContaining('its function failed') },
    },
    { type: 'completion', data: { stopReason: 'error' } },
  ]);
  expect((await ports.turns.loadWork(id)).inbox).toEqual([]);
  expect(invoked).toHaveLength(3);
});

test('a message that no function takes up is answered with an error', async () => {
  const { ports, look, id } = await open({ kind: 'idle' });
  for (const at of [900_000, 960_000, 1_020_000, 1_080_000]) await look(at);
  const { events } = await ports.eventLog.read(id, { since: -1, eventsMax: 10 });
  expect(events.map(({ type }) => type)).toEqual(['message', 'agent:error', 'completion']);
});

test('a turn that moves between the tries is continued, and so is one whose lease is taken', async () => {
  const { ports, clock, look, invoked, id } = await open(thinking);
  for (const at of [900_000, 960_000, 1_020_000]) await look(at);
  clock.now = 1_000_000 + 1_070_000;
  await ports.turns.takeLease(id, { holder: 'h', at: clock.now, until: clock.now + 1 });
  expect(await look(1_080_000)).toEqual(['running', 'ready']);
  expect(invoked).toHaveLength(4);
  for (let minute = 19; minute < 25; minute += 1) await look(minute * 60_000);
  expect(invoked).toHaveLength(10);
  expect(await look(25 * 60_000)).toEqual(['idle', 'ready']);
});

test('L5: one that waits for a child is continued, and loses its sandbox when idle', async () => {
  const { look, invoked, id } = await open(awaiting);
  expect(await look(899_999)).toEqual(['running', 'ready']);
  expect(await look(900_000)).toEqual(['running', 'stopping']);
  expect(invoked).toContain(`turn ${id}`);
});

test('CH3: a child is kept until its parent has heard it', async () => {
  const { ports, clock, look, invoked, id } = await open(awaiting);
  const tree = { root: id, parent: id };
  const ended = newSession({
    id: child.session,
    tree,
    status: 'completed',
    lastActiveAt: clock.now,
    dueAt: clock.now,
  });
  await ports.sessions.create(ended, { workspace: workspaceOf(ended) });
  await look(lifetimes.historyMs);
  expect(await ports.sessions.get(child.session)).toBeDefined();
  expect(invoked).toContain(`turn ${id}`);
  await endAwaiting(ports, id);
  await look(lifetimes.historyMs + orphanAgeMs);
  expect(await ports.sessions.get(child.session)).toBeUndefined();
});

test('CH4: a root whose end was never followed to its end is not forgotten before its children have ended', async () => {
  const { ports, clock } = openQuietPorts();
  const times = { createdAt: clock.now, lastActiveAt: clock.now };
  const parent = newSession(times);
  await ports.sessions.create(parent, { workspace: workspaceOf(parent) });
  const { id: root, workspace, project } = parent;
  const child = newSession({ ...times, workspace, project, tree: { root, parent: root } });
  const born = { parent, agentsMax: 2, isUnleased: true } as const;
  expect(await ports.sessions.create(child, { enters: {}, child: born })).toBe('created');
  const found = (await ports.sessions.get(root)) ?? parent;
  await ports.sessions.end(found, { status: 'completed', at: clock.now, dueAt: clock.now });
  clock.now += lifetimes.historyMs;
  await sweep(ports, { lifetimes });
  expect(await ports.sessions.get(root)).toBeUndefined();
  expect((await ports.sessions.get(child.id))?.status).toBe('completed');
});

test('L5: an idle one leaves the sandbox to another of its workspace with pending work', async () => {
  const { ports, clock, id, look } = await open(thinking);
  const { workspace, project } = (await ports.sessions.get(id)) ?? newSession();
  const times = { createdAt: clock.now, lastActiveAt: clock.now, dueAt: clock.now + lifetimes.idleMs };
  const other = newSession({ workspace, project, ...times });
  expect(await ports.sessions.create(other, { enters: {} })).toBe('created');
  expect(await look(900_000)).toEqual(['running', 'ready']);
});

/** So many idle sessions, each due, whose sandboxes never started. */
const backlog = async (count: number) => {
  const { ports, clock, ...quiet } = openQuietPorts();
  for (let index = 0; index < count; index += 1) {
    const session = newSession({
      ...{ createdAt: 1, lastActiveAt: 1, dueAt: clock.now - index, status: 'idle' },
    });
    await ports.sessions.create(session, { workspace: workspaceOf(session) });
  }
  const left = async () => (await ports.sessions.due(clock.now, 10_000)).length;
  return { ...quiet, ports, clock, left };
};

test('a backlog of many rounds is swept in one sweep', async () => {
  const { ports, left } = await backlog(1300);
  expect(await sweep(ports, { lifetimes })).toEqual({ due: 1300, failed: 0 });
  expect(await left()).toBe(0);
});

test('what fails for ever keeps no other from its turn, and is put off', async () => {
  const { ports, left } = await backlog(1300);
  const failing = new Set((await ports.sessions.due(Number.MAX_SAFE_INTEGER, 450)).map(({ id }) => id));
  const connections = {
    ...ports.connections,
    subscribers: (id: SessionId) =>
      failing.has(id) ? Promise.reject(new Error('no')) : ports.connections.subscribers(id),
  };
  const sessions = {
    ...ports.sessions,
    postpone: (session: Parameters<typeof ports.sessions.postpone>[0], dueAt: number) =>
      failing.has(session.id) && dueAt > 1_100_000
        ? Promise.reject(new Error('no'))
        : ports.sessions.postpone(session, dueAt),
  };
  const report = await sweep({ ...ports, connections, sessions }, { lifetimes });
  expect(report).toEqual({ due: 1300, failed: 450 });
  expect(await left()).toBe(0);
});

test('a record that cannot be read is told, and keeps no other from its turn', async () => {
  const { ports, memory, warned, left } = await backlog(3);
  const [unreadable] = await ports.sessions.due(Number.MAX_SAFE_INTEGER, 1);
  memory.execute({
    constructor: { name: 'UpdateCommand' },
    input: {
      Key: { pk: `SESSION#${unreadable?.id}`, sk: 'META' },
      UpdateExpression: 'SET approvals = :unknown',
      ExpressionAttributeValues: { ':unknown': 'of a later version' },
    },
  });
  expect(await sweep(ports, { lifetimes })).toEqual({ due: 3, failed: 1 });
  expect(warned).toEqual(['a due record cannot be read']);
  expect(await left()).toBe(0);
});

test('a sweep takes up nothing more when its time is over', async () => {
  const { ports, clock, left } = await backlog(1300);
  const sessions = {
    ...ports.sessions,
    due: async (...asked: Parameters<typeof ports.sessions.due>) => {
      const due = await ports.sessions.due(...asked);
      clock.now += 30_000;
      return due;
    },
  };
  const report = await sweep({ ...ports, sessions }, { lifetimes });
  expect(report.due).toBe(400);
  expect(await left()).toBe(900);
});

test('a sweep that waits for a slow one takes up what becomes due meanwhile', async () => {
  const { ports, clock, invoked, id } = await open(thinking);
  const deleted = newSession({ status: 'completed', createdAt: clock.now, dueAt: 1e12 });
  await ports.sessions.create(deleted, { workspace: workspaceOf(deleted) });
  expect(await forgetSession({ ...ports, forgetFiles: async () => undefined }, deleted)).toBe(true);
  clock.now += lateSaveMsMax;
  const [begunAt, dueAt] = [clock.now, clock.now + 20_000];
  const session = await ports.sessions.get(id);
  if (session === undefined) throw new Error('the session is not there');
  await ports.sessions.postpone(session, dueAt);
  const slow = Promise.withResolvers<void>();
  const world = {
    ...ports.world,
    sleep: async (milliseconds: number): Promise<void> => {
      clock.now += milliseconds;
      if (clock.now - begunAt > 40_000) slow.resolve();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  const archive = { ...ports.archive, forget: () => slow.promise };
  const invoker = {
    ...ports.invoker,
    runTurn: async (turn: SessionId): Promise<void> => {
      invoked.push(`turn ${turn} at ${clock.now - dueAt < 10_000 ? 'its time' : clock.now}`);
      slow.resolve();
    },
  };
  expect(await sweep({ ...ports, world, archive, invoker }, { lifetimes })).toEqual({ due: 2, failed: 0 });
  expect(invoked).toEqual([`turn ${id} at its time`]);
});
