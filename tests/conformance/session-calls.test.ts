/** Signs of life against a real DynamoDB engine: heartbeats bring a look forward only, calls overlap and end each once. */
import { describe, expect, test } from 'vitest';
import type { SessionId } from '#shared/domain/ids.ts';
import type { Session, SessionStatus } from '#shared/domain/session.ts';
import { activeAt, atOnce, farAway, newExecution, newSession, onTable } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

const stores = () => onTable(fixture.table);
const begin = (key: string, at: number) => ({ key, at, until: at + 100, idleMs: 1000 });
const finish = (key: string, at: number) => ({ key, at, idleMs: 1000 });
const seen = ({ status, runningCalls, lastActiveAt, dueAt }: Session) => ({
  status,
  runningCalls,
  lastActiveAt,
  dueAt,
});

describe('activity', () => {
  test('moves the next sweep forward', async () => {
    const { sessions, create, read, isSessionDue } = stores();
    const session = await create(newSession({ dueAt: 8000 }));
    await sessions.touch(session, activeAt(3000, 2000));
    expect(await read(session.id)).toEqual({ ...session, lastActiveAt: 3000, dueAt: 5000 });
    expect([await isSessionDue(session.id, 4999), await isSessionDue(session.id, 5000)]).toEqual([
      false,
      true,
    ]);
  });

  test('schedules a sweep for a session without one', async () => {
    const { sessions, create, read } = stores();
    const session = await create();
    await sessions.touch(session, activeAt(3000, 2000));
    expect(await read(session.id)).toEqual({ ...session, lastActiveAt: 3000, dueAt: 5000 });
  });

  test('never postpones a sweep', async () => {
    const { sessions, create, read } = stores();
    const session = await create(newSession({ dueAt: 4000 }));
    await sessions.touch(session, activeAt(3000, 2000));
    expect(await read(session.id)).toEqual({ ...session, lastActiveAt: 3000, dueAt: 4000 });
  });

  test('does not postpone a sweep that became due earlier since the session was read', async () => {
    const { sessions, create, read } = stores();
    const session = await create(newSession({ dueAt: 8000 }));
    await sessions.touch(session, activeAt(3000, 1000));
    await sessions.touch(session, activeAt(3500, 2500));
    expect(await read(session.id)).toEqual({ ...session, lastActiveAt: 3500, dueAt: 4000 });
  });

  test('brings a sweep forward that was put off since the session was read', async () => {
    const { sessions, create, read } = stores();
    const session = await create(newSession({ dueAt: 4000 }));
    expect(await sessions.postpone(session, 90_000)).toBe(true);
    await sessions.touch(session, activeAt(3000, 2000));
    expect(await read(session.id)).toEqual({ ...session, lastActiveAt: 3000, dueAt: 5000 });
  });

  test('follows the idle time that a person changed since the session was read', async () => {
    const { sessions, create, read } = stores();
    const session = await create(newSession({ dueAt: 90_000, idleMs: 50_000 }));
    await sessions.change(session.id, { idleMs: 1000 });
    expect(await sessions.touch(session, activeAt(3000, 60_000))).toBe(true);
    expect(await read(session.id)).toMatchObject({ lastActiveAt: 3000, dueAt: 4000 });
  });

  test('follows the idle time of the deployment after a person took the own one away', async () => {
    const { sessions, create, read } = stores();
    const session = await create(newSession({ dueAt: 90_000, idleMs: 50_000 }));
    await sessions.change(session.id, { idleMs: undefined });
    await sessions.touch(session, activeAt(3000, 2000));
    expect(await read(session.id)).toMatchObject({ lastActiveAt: 3000, dueAt: 5000 });
  });

  test('has no effect on an ended session, and creates none', async () => {
    const { sessions, create, read } = stores();
    const session = await create();
    await sessions.end(session, { status: 'completed', at: 2000, dueAt: farAway });
    expect(await sessions.touch(session, activeAt(3000, 2000))).toBe(false);
    expect(seen(await read(session.id))).toEqual({
      status: 'completed',
      runningCalls: {},
      lastActiveAt: 2000,
      dueAt: farAway,
    });
    const nobody = newSession();
    expect(await sessions.touch(nobody, activeAt(3000, 2000))).toBe(false);
    expect(await sessions.get(nobody.id)).toBeUndefined();
  });
});

describe('calls of an execution session', () => {
  test('two that overlap: it is ready again after the second', async () => {
    const { sessions, create, read } = stores();
    const { id } = await create(newExecution());
    const first = await sessions.beginCall(id, begin('a', 2000));
    expect(first && seen(first)).toEqual({
      status: 'creating',
      runningCalls: { a: 2100 },
      lastActiveAt: 2000,
      dueAt: 3000,
    });
    await sessions.recordRunning(id);
    await sessions.beginCall(id, begin('b', 2010));
    expect(seen(await read(id))).toEqual({
      status: 'running',
      runningCalls: { a: 2100, b: 2110 },
      lastActiveAt: 2010,
      dueAt: 3010,
    });
    await sessions.endCall(id, finish('a', 2020));
    expect(seen(await read(id))).toEqual({
      status: 'running',
      runningCalls: { b: 2110 },
      lastActiveAt: 2020,
      dueAt: 3020,
    });
    await sessions.endCall(id, finish('b', 2030));
    expect(seen(await read(id))).toEqual({
      status: 'ready',
      runningCalls: {},
      lastActiveAt: 2030,
      dueAt: 3030,
    });
  });

  test('twenty that end at once leave a ready session without calls', async () => {
    const { sessions, create, read } = stores();
    const { id } = await create(newExecution());
    await atOnce(20, (index) => sessions.beginCall(id, begin(`call-${index}`, 2000)));
    await sessions.recordRunning(id);
    await atOnce(20, (index) => sessions.endCall(id, finish(`call-${index}`, 3000)));
    expect(seen(await read(id))).toEqual({
      status: 'ready',
      runningCalls: {},
      lastActiveAt: 3000,
      dueAt: 4000,
    });
  });

  test('one that begins in a ready session makes it running at once', async () => {
    const { sessions, create, read } = stores();
    const { id } = await create(newExecution({ status: 'ready' }));
    expect((await sessions.beginCall(id, begin('a', 2000)))?.status).toBe('running');
    await sessions.endCall(id, finish('a', 2010));
    expect(seen(await read(id))).toMatchObject({ status: 'ready', runningCalls: {} });
  });

  test('one that ends twice does not end another', async () => {
    const { sessions, create, read } = stores();
    const { id } = await create(newExecution());
    await sessions.beginCall(id, begin('a', 2000));
    await sessions.beginCall(id, begin('b', 2000));
    await sessions.recordRunning(id);
    await sessions.endCall(id, finish('a', 2010));
    await sessions.endCall(id, finish('a', 2020));
    expect(seen(await read(id))).toMatchObject({ status: 'running', runningCalls: { b: 2100 } });
  });

  test('a key may have any characters', async () => {
    const { sessions, create, read } = stores();
    const { id } = await create(newExecution());
    await sessions.beginCall(id, begin('3f.a b#"é', 2000));
    expect((await read(id)).runningCalls).toEqual({ '3f.a b#"é': 2100 });
    await sessions.endCall(id, finish('3f.a b#"é', 2010));
    expect((await read(id)).runningCalls).toEqual({});
  });

  test('a call whose sandbox did not start leaves the session unchanged', async () => {
    const { sessions, create, read } = stores();
    const { id } = await create(newExecution());
    await sessions.beginCall(id, begin('a', 2000));
    await sessions.endCall(id, finish('a', 2010));
    expect(seen(await read(id))).toMatchObject({ status: 'creating', runningCalls: {} });
  });

  test.each<[SessionStatus, boolean]>([
    ['creating', true],
    ['ready', true],
    ['running', true],
    ['error', false],
    ['stopped', false],
  ])('a session that is %s takes one: %s', async (status, isTaken) => {
    const { sessions, create } = stores();
    const { id } = await create(newExecution({ status }));
    expect((await sessions.beginCall(id, begin('a', 2000))) !== undefined).toBe(isTaken);
  });

  test('an unknown session accepts none', async () => {
    const { sessions } = stores();
    expect(await sessions.beginCall('nobody' as SessionId, begin('a', 2000))).toBeUndefined();
  });

  test.each(['the last', 'one of several'])(
    '%s that ends is followed by a look at the idle time of now',
    async (which) => {
      const { sessions, create, read } = stores();
      const { id } = await create(newExecution({ status: 'ready' }));
      await sessions.beginCall(id, begin('a', 2000));
      if (which === 'one of several') await sessions.beginCall(id, begin('b', 2000));
      await sessions.change(id, { idleMs: 100 });
      await sessions.endCall(id, finish('a', 2010));
      expect(seen(await read(id))).toMatchObject({ lastActiveAt: 2010, dueAt: 2110 });
      expect((await read(id)).runningCalls).not.toHaveProperty('a');
    },
  );

  test('one that ends after its session leaves the session ended', async () => {
    const { sessions, create, read } = stores();
    const session = await create(newExecution());
    await sessions.beginCall(session.id, begin('a', 2000));
    await sessions.recordRunning(session.id);
    await sessions.end(await read(session.id), { status: 'stopped', at: 2050, dueAt: farAway });
    await sessions.endCall(session.id, finish('a', 2060));
    await sessions.recordRunning(session.id);
    expect(seen(await read(session.id))).toMatchObject({
      status: 'stopped',
      lastActiveAt: 2050,
      dueAt: farAway,
    });
  });
});

test.each<[SessionStatus, SessionStatus]>([
  ['creating', 'running'],
  ['ready', 'running'],
  ['running', 'running'],
  ['error', 'error'],
  ['stopped', 'stopped'],
])('a sandbox that is there makes a session that is %s one that is %s', async (before, after) => {
  const { sessions, create, read } = stores();
  const session = await create(newExecution({ status: before }));
  await sessions.recordRunning(session.id);
  expect(await read(session.id)).toEqual({ ...session, status: after });
});
