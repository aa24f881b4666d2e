/** A session's beginning and end against a real DynamoDB engine: its place is taken once, given back once, and never lost. */
import { describe, expect, test } from 'vitest';
import { keys } from '#shared/adapters/aws/dynamo/table.ts';
import type { MessageId, ProjectId, SessionId, TurnId, WorkspaceId } from '#shared/domain/ids.ts';
import { agentSlots, executionSlots } from '#shared/domain/slot-holder.ts';
import {
  activeAt,
  atOnce,
  farAway,
  inboxLimits,
  message,
  newExecution,
  newSandbox,
  newSession,
  note,
  onTable,
  tally,
  workspaceOf,
} from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

const stores = () => onTable(fixture.table);
const stopped = { status: 'stopped', at: 9000, dueAt: farAway } as const;
const completed = { status: 'completed', at: 9000, dueAt: farAway } as const;

describe('a session is created', () => {
  test('with its workspace, in one write', async () => {
    const { sessions, workspaces } = stores();
    const session = newExecution({ flavor: 'large', createdAt: 4321 });
    const workspace = workspaceOf(session);
    expect(await sessions.create(session, { workspace })).toBe('created');
    expect(await sessions.get(session.id)).toEqual(session);
    expect(await workspaces.get(session.workspace)).toEqual(workspace);
  });

  test('not again under a taken id, and the second attempt makes no workspace', async () => {
    const { sessions, workspaces, create } = stores();
    const first = await create(newExecution());
    const second = { ...newExecution(), id: first.id };
    const options = { workspace: workspaceOf(second) };
    expect(await sessions.create(second, options)).toBe('exists');
    expect(await sessions.get(first.id)).toEqual(first);
    expect(await workspaces.get(second.workspace)).toBeUndefined();
  });

  test('in an existing workspace, when none is given', async () => {
    const { sessions, workspaces, create } = stores();
    const { workspace, owner } = await create();
    const other = newSession({ owner, workspace });
    const before = await workspaces.get(workspace);
    expect(await sessions.create(other, {})).toBe('created');
    expect(await workspaces.get(workspace)).toEqual(before);
  });

  test('and takes no slot yet', async () => {
    const { slots, create } = stores();
    const { project } = await create();
    const { owner } = await create(newExecution());
    expect((await slots.read(agentSlots(project))).taken).toEqual([]);
    expect((await slots.read(executionSlots(owner))).taken).toEqual([]);
  });
});

describe('a session ends', () => {
  test('once for twenty concurrent requests', async () => {
    const { sessions, create } = stores();
    const session = await create(newExecution());
    const ends = await atOnce(20, () => sessions.end(session, stopped));
    expect(tally(ends.map((ended) => ended !== undefined))).toEqual({ true: 1, false: 19 });
    expect(await sessions.get(session.id)).toEqual({
      ...session,
      status: 'stopped',
      lastActiveAt: 9000,
      dueAt: farAway,
    });
  });

  test('from any state it changed to since it was read, with the slot taken in between', async () => {
    const { sessions, inbox, slots, create } = stores();
    const session = await create();
    await inbox.accept(session, message('m'), inboxLimits);
    expect((await sessions.end(session, completed))?.session.status).toBe('completed');
    expect(await slots.read(agentSlots(session.project))).toMatchObject({ counted: 0, taken: [] });
  });

  test('beside a first message, without losing or keeping a slot', async () => {
    const { sessions, inbox, slots, create } = stores();
    const project = crypto.randomUUID() as ProjectId;
    const all = await atOnce(20, () => create(newSession({ project })));
    const outcomes = await Promise.all(
      all.map(async (session) => {
        const [accepted, ended] = await Promise.all([
          inbox.accept(session, message('m'), { slotsMax: 100, conversationsMax: 100 }),
          sessions.end(session, completed),
        ]);
        return [
          ['accepted', 'ended'].includes(accepted),
          ended?.session.status,
          (await sessions.get(session.id))?.status,
        ];
      }),
    );
    expect(outcomes).toEqual(all.map(() => [true, 'completed', 'completed']));
    expect(await slots.read(agentSlots(project))).toMatchObject({ counted: 0, taken: [] });
  });

  test('on request not after activity since it was read', async () => {
    const { sessions, create } = stores();
    const session = await create(newExecution());
    await sessions.touch(session, activeAt(1001, farAway));
    expect(await sessions.end(session, { ...stopped, unlessMoved: true })).toBeUndefined();
    expect((await sessions.get(session.id))?.status).toBe('creating');
    const seen = (await sessions.get(session.id)) ?? session;
    expect((await sessions.end(seen, { ...stopped, unlessMoved: true }))?.session.status).toBe('stopped');
  });

  test('on request not after a message of the same millisecond', async () => {
    const { sessions, inbox, create, read } = stores();
    const session = await create();
    await inbox.accept(session, message('1'), inboxLimits);
    const seen = await read(session.id);
    await inbox.accept(seen, message('2'), inboxLimits);
    expect(await sessions.end(seen, { ...completed, unlessMoved: true })).toBeUndefined();
    expect((await read(session.id)).status).toBe('running');
  });

  test('and logs its end in the same write, after all earlier entries', async () => {
    const { sessions, eventLog, create, read } = stores();
    const session = await create();
    await eventLog.append(session.id, [note('before')], 8000);
    const ended = await sessions.end(session, { ...completed, unlessMoved: true, log: [note('over')] });
    const { events } = await eventLog.read(session.id, { since: -1, eventsMax: 10 });
    expect(events).toEqual([
      { ...note('before'), seq: 0, at: 8000 },
      { ...note('over'), seq: 1, at: 9000 },
    ]);
    expect(ended).toEqual({ session: await read(session.id), events: events.slice(1) });
  });

  test('with one final entry for twenty concurrent requests, numbered like every other', async () => {
    const { sessions, eventLog, create } = stores();
    const session = await create(newExecution());
    await Promise.all([
      atOnce(20, () => sessions.end(session, { ...stopped, log: [note('over')] })),
      atOnce(5, () => eventLog.append(session.id, [note('meanwhile')], 8000)),
    ]);
    const { events } = await eventLog.read(session.id, { since: -1, eventsMax: 50 });
    expect(events.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(events.filter(({ data }) => 'text' in data && data.text === 'over')).toHaveLength(1);
  });

  test('not when it does not exist', async () => {
    const { sessions } = stores();
    expect(await sessions.end(newSession(), completed)).toBeUndefined();
  });
});

test('entries with a mark are appended once, and none after those of a higher mark', async () => {
  const { eventLog, create } = stores();
  const { id } = await create();
  const marked = (mark: number) => ({ mark, entries: [note(`end ${mark}`)], at: 8000 });
  const answers = await atOnce(10, () => eventLog.appendOnce(id, marked(1)));
  expect(answers.flatMap((events) => events ?? [])).toHaveLength(1);
  await eventLog.append(id, [note('between')], 8001);
  expect(await eventLog.appendOnce(id, marked(3))).toHaveLength(1);
  expect(await eventLog.appendOnce(id, marked(2))).toEqual([]);
  const { events } = await eventLog.read(id, { since: -1, eventsMax: 10 });
  expect(events.map(({ data }) => 'text' in data && data.text)).toEqual(['end 1', 'between', 'end 3']);
  expect(await eventLog.appendOnce(newSession().id, marked(1))).toBeUndefined();
});

describe('an unused session', () => {
  test('is deleted with its workspace', async () => {
    const { sessions, workspaces, create } = stores();
    const session = await create();
    expect(await sessions.removeUnused(session)).toBe(true);
    expect(await sessions.get(session.id)).toBeUndefined();
    expect(await workspaces.get(session.workspace)).toBeUndefined();
    expect(await sessions.removeUnused(session)).toBe(false);
  });

  test('stays, and its workspace too, once it got a message', async () => {
    const { sessions, inbox, workspaces, create } = stores();
    const session = await create();
    await inbox.accept(session, message('m'), inboxLimits);
    expect(await sessions.removeUnused(session)).toBe(false);
    expect((await sessions.get(session.id))?.status).toBe('running');
    expect(await workspaces.get(session.workspace)).toEqual(workspaceOf(session));
  });

  test('stays once its log has an entry', async () => {
    const { sessions, eventLog, create } = stores();
    const session = await create();
    await eventLog.append(session.id, [note('a')], 1);
    expect(await sessions.removeUnused(session)).toBe(false);
  });

  test('is deleted without its workspace, if that has another user', async () => {
    const { sessions, workspaces } = stores();
    const session = newSession();
    const users = [session.id, crypto.randomUUID() as SessionId].sort();
    await workspaces.create({ ...workspaceOf(session), users });
    await sessions.create(session, {});
    expect(await sessions.removeUnused(session)).toBe(true);
    expect(await sessions.get(session.id)).toBeUndefined();
    expect((await workspaces.get(session.workspace))?.users).toEqual(users.filter((id) => id !== session.id));
  });

  test('stays when its workspace has had a sandbox', async () => {
    const { sessions, workspaces, create } = stores();
    const session = await create();
    await workspaces.claimStart(session.workspace, newSandbox());
    expect(await sessions.removeUnused(session)).toBe(false);
    await workspaces.markStopped(session.workspace, 1, { reason: 'gone', at: 1 });
    expect(await sessions.removeUnused(session)).toBe(false);
  });

  test('stays when its workspace has files', async () => {
    const { sessions, workspaces } = stores();
    const session = newSession();
    const checkpoint = { id: 'c', sha256: 'ab', savedAt: 1, generation: 1, files: 1, bytes: 1, packs: ['c'] };
    await workspaces.create({ ...workspaceOf(session), checkpoint });
    await sessions.create(session, {});
    expect(await sessions.removeUnused(session)).toBe(false);
    expect((await workspaces.get(session.workspace))?.users).toEqual([session.id]);
  });

  test('is either deleted or takes its first message, never both', async () => {
    const { sessions, inbox, create } = stores();
    const all = await atOnce(20, () => create());
    const outcomes = await Promise.all(
      all.map(async (session) => {
        const [accepted, removed] = await Promise.all([
          inbox.accept(session, message('m'), inboxLimits),
          sessions.removeUnused(session),
        ]);
        return `${accepted} ${removed}`;
      }),
    );
    expect(outcomes.filter((outcome) => !['accepted false', 'ended true'].includes(outcome))).toEqual([]);
  });
});

test('a deleted session leaves no item, and no item of another is deleted', async () => {
  const { sessions, eventLog, turns, create, remove } = stores();
  const [one, other] = [await create(), await create()];
  const fill = async (id: SessionId): Promise<void> => {
    for (let batch = 0; batch < 3; batch += 1)
      await eventLog.append(
        id,
        Array.from({ length: 40 }, () => note('x')),
        batch,
      );
    const session = await turns.takeLease(id, { holder: 'a', at: 10, until: 1000 });
    if (session === undefined) throw new Error('the lease was not free');
    await turns.commit({
      session,
      fence: session.lease.fence,
      version: 0,
      state: { kind: 'done', turnId: 't' as TurnId, stopReason: 'end_turn' },
      historyNext: 0,
      historyFrom: 0,
      historyKept: 0,
      at: 20,
      log: [],
      history: [{ role: 'user', messageId: 'u' as MessageId, text: 'kept' }],
      release: true,
      wakes: false,
      dueAt: farAway,
    });
  };
  await fill(one.id);
  await fill(other.id);
  expect(await remove(one.id)).toBe(true);
  expect(await sessions.get(one.id)).toBeUndefined();
  expect(await eventLog.read(one.id, { since: -1, eventsMax: 10 })).toEqual({
    events: [],
    hasMore: false,
  });
  expect(await turns.loadWork(one.id)).toEqual({
    turn: { version: 0, historyNext: 0, historyFrom: 0, historyKept: 0, state: { kind: 'idle' } },
    inbox: [],
    history: [],
    callers: [],
    subscribers: [],
  });
  expect(await stores().item(keys.turn(one.id))).toBeUndefined();
  expect((await eventLog.read(other.id, { since: -1, eventsMax: 200 })).events).toHaveLength(120);
  expect(await turns.history(other.id)).toEqual([{ role: 'user', messageId: 'u', text: 'kept' }]);
  expect(await sessions.forget(one.id, 9000)).toBe(true);
});

test('a hundred and fifty sessions are read together, each once, without missing ones', async () => {
  const { sessions, workspaces, create } = stores();
  const all = await atOnce(150, () => create());
  const ids = all.map(({ id }) => id);
  const found = await sessions.getMany([...ids, 'nobody' as SessionId, ...ids.slice(0, 20)]);
  const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1);
  expect([...found].sort(byId)).toEqual([...all].sort(byId));
  const spaces = await workspaces.getMany([...all.map(({ workspace }) => workspace), 'none' as WorkspaceId]);
  expect([...spaces].sort(byId)).toEqual(all.map(workspaceOf).sort(byId));
  expect(await sessions.getMany([])).toEqual([]);
});

describe('a due session', () => {
  test('is postponed by exactly one of twenty readers', async () => {
    const { sessions, create, isSessionDue } = stores();
    const session = await create(newSession({ dueAt: 500 }));
    expect(await isSessionDue(session.id, 500)).toBe(true);
    const claims = await atOnce(20, () => sessions.postpone(session, farAway));
    expect(tally(claims)).toEqual({ true: 1, false: 19 });
    expect(await isSessionDue(session.id, farAway - 1)).toBe(false);
  });

  test.each(['touch', 'lease', 'message'] as const)('is not postponed after a %s', async (what) => {
    const { sessions, turns, inbox, create, read } = stores();
    const session = await create(newSession({ dueAt: 500 }));
    if (what === 'touch') await sessions.touch(session, activeAt(1001, 1000));
    if (what === 'lease') await turns.takeLease(session.id, { holder: 'a', at: 10, until: 500 });
    if (what === 'message') await inbox.accept(session, message('m'), inboxLimits);
    const moved = await read(session.id);
    expect(await sessions.postpone(session, farAway)).toBe(false);
    expect(await read(session.id)).toEqual(moved);
  });

  test('is listed oldest first', async () => {
    const { sessions, create } = stores();
    const dueAts = [17, 5, 11, 2, 14, 8, 20, 3];
    const made = await Promise.all(dueAts.map((dueAt) => create(newSession({ dueAt }))));
    const own = new Set(made.map(({ id }) => id));
    const listed = (await sessions.due(20, 100)).filter(({ id }) => own.has(id));
    expect(listed.map(({ dueAt }) => dueAt)).toEqual([2, 3, 5, 8, 11, 14, 17, 20]);
  });

  test('is listed up to the limit, the oldest of all among them, and the rest once those were taken', async () => {
    const { sessions, create } = stores();
    for (const session of await sessions.due(20, 100)) await sessions.postpone(session, farAway);
    const dueAts = [17, 5, 11, 2, 14, 8, 20, 3];
    for (const dueAt of dueAts) await create(newSession({ dueAt }));
    const left = new Set(dueAts);
    for (const expected of [3, 3, 2]) {
      const listed = await sessions.due(20, 3);
      const times = listed.map(({ dueAt = 0 }) => dueAt);
      expect(times).toHaveLength(expected);
      expect(times).toEqual(times.toSorted((one, other) => one - other));
      expect(times[0]).toBe(Math.min(...left));
      for (const session of listed) {
        expect(left.delete(session.dueAt ?? 0)).toBe(true);
        expect(await sessions.postpone(session, farAway)).toBe(true);
      }
    }
    expect(left.size).toBe(0);
  });
});
