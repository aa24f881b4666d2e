/** A session's beginning and end against a real DynamoDB engine: its place is taken once, given back once, and never lost. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keys } from '#shared/adapters/aws/dynamo/table.ts';
import type { MessageId, OwnerId, ProjectId, SessionId, TurnId, WorkspaceId } from '#shared/domain/ids.ts';
import { agentSlots, executionSlots } from '#shared/domain/slots.ts';
import {
  atOnce,
  farAway,
  message,
  newExecution,
  newSandbox,
  newSession,
  note,
  onTable,
  slotsMax,
  tally,
  workspaceOf,
} from './session-fixture.ts';
import { openTableFixture, type TableFixture } from './table-fixture.ts';

let fixture: TableFixture;
beforeAll(async () => {
  fixture = await openTableFixture();
});
afterAll(() => fixture.close());

const stores = () => onTable(fixture.table);
const stopped = { status: 'stopped', at: 9000, dueAt: farAway } as const;
const completed = { status: 'completed', at: 9000, dueAt: farAway } as const;

describe('a session is created', () => {
  test('with its workspace and its slot, in one write', async () => {
    const { sessions, workspaces, slots } = stores();
    const session = newExecution({ flavor: 'large', createdAt: 4321 });
    const workspace = workspaceOf(session);
    expect(await sessions.create(session, { workspace, slotsMax: slotsMax })).toBe('created');
    expect(await sessions.get(session.id)).toEqual(session);
    expect(await workspaces.get(session.workspace)).toEqual(workspace);
    expect(await slots.read(executionSlots(session.owner))).toEqual({
      holder: executionSlots(session.owner),
      counted: 1,
      version: 1,
      taken: [{ session: session.id, flavor: 'large', takenAt: 4321 }],
    });
  });

  test('not at all when no slot is free', async () => {
    const { sessions, workspaces, slots } = stores();
    const session = newExecution();
    const options = { workspace: workspaceOf(session), slotsMax: 0 };
    await stores().create(newExecution({ owner: session.owner }));
    expect(await sessions.create(session, { ...options, slotsMax: 1 })).toBe('full');
    expect(await sessions.get(session.id)).toBeUndefined();
    expect(await workspaces.get(session.workspace)).toBeUndefined();
    expect((await slots.read(executionSlots(session.owner))).counted).toBe(1);
  });

  test('not again under a taken id, and the second attempt takes no slot and no workspace', async () => {
    const { sessions, workspaces, slots, create } = stores();
    const first = await create(newExecution());
    const second = { ...newExecution(), id: first.id };
    const options = { workspace: workspaceOf(second), slotsMax };
    expect(await sessions.create(second, options)).toBe('exists');
    expect(await sessions.get(first.id)).toEqual(first);
    expect(await workspaces.get(second.workspace)).toBeUndefined();
    expect((await slots.read(executionSlots(second.owner))).taken).toEqual([]);
  });

  test('under a taken id is `exists` also when no slot is free', async () => {
    const { sessions, create } = stores();
    const first = await create(newExecution());
    expect(await sessions.create(first, { workspace: workspaceOf(first), slotsMax: 1 })).toBe('exists');
  });

  test('in an existing workspace, when none is given', async () => {
    const { sessions, workspaces, create } = stores();
    const { workspace, owner } = await create();
    const other = newSession({ owner, workspace });
    const before = await workspaces.get(workspace);
    expect(await sessions.create(other, { slotsMax: slotsMax })).toBe('created');
    expect(await workspaces.get(workspace)).toEqual(before);
  });

  test('and an agent session takes no slot yet', async () => {
    const { slots, create } = stores();
    const { project } = await create();
    expect((await slots.read(agentSlots(project))).taken).toEqual([]);
  });
});

describe('of a hundred concurrent execution sessions', () => {
  test('ten get a slot, and each one that ends makes room for one', async () => {
    const { sessions, workspaces, slots } = stores();
    const owner = crypto.randomUUID() as OwnerId;
    const wanted = Array.from({ length: 100 }, () => newExecution({ owner }));
    const make = (session: (typeof wanted)[number]) =>
      sessions.create(session, { workspace: workspaceOf(session), slotsMax: slotsMax });
    const results = await Promise.all(wanted.map(make));
    expect(tally(results)).toEqual({ created: 10, full: 90 });

    const { counted, taken } = await slots.read(executionSlots(owner));
    expect(counted).toBe(10);
    const made = wanted.filter((_, index) => results[index] === 'created');
    expect(taken.map(({ session }) => session).sort()).toEqual(made.map(({ id }) => id).sort());
    const refused = wanted.filter((_, index) => results[index] === 'full');
    expect(await sessions.getMany(refused.map(({ id }) => id))).toEqual([]);
    expect(await workspaces.getMany(refused.map(({ workspace }) => workspace))).toEqual([]);

    await sessions.end(made[0] ?? newExecution(), stopped);
    expect(tally(await Promise.all(refused.map(make)))).toEqual({ created: 1, full: 89 });
  });

  test('those of another owner count separately', async () => {
    const { sessions, create } = stores();
    const { owner } = await create(newExecution());
    const other = newExecution();
    expect(owner).not.toBe(other.owner);
    expect(await sessions.create(other, { workspace: workspaceOf(other), slotsMax: 1 })).toBe('created');
  });
});

describe('an agent session takes its slot with its first message', () => {
  test('of a hundred first messages in one project ten are accepted', async () => {
    const { sessions, inbox, turns, slots, create } = stores();
    const project = crypto.randomUUID() as ProjectId;
    const all = await atOnce(100, () => create(newSession({ project })));
    const results = await Promise.all(all.map((session) => inbox.accept(session, message('m'), slotsMax)));
    expect(tally(results)).toEqual({ accepted: 10, full: 90 });
    const accepted = all.filter((_, index) => results[index] === 'accepted');
    const { counted, taken } = await slots.read(agentSlots(project));
    expect(counted).toBe(10);
    expect(taken.map(({ session }) => session).sort()).toEqual(accepted.map(({ id }) => id).sort());
    const refused = all.filter((_, index) => results[index] === 'full');
    const untouched = await sessions.getMany(refused.map(({ id }) => id));
    expect(tally(untouched.map(({ status }) => status))).toEqual({ created: 90 });
    expect((await turns.loadWork(refused[0]?.id ?? ('' as SessionId))).inbox).toEqual([]);
  });

  test('its second message takes none, and is accepted when all are taken', async () => {
    const { sessions, inbox, slots, create } = stores();
    const session = await create();
    expect(await inbox.accept(session, message('1'), 1)).toBe('accepted');
    const running = await sessions.get(session.id);
    expect(running).toEqual({
      ...session,
      status: 'running',
      lastActiveAt: 2000,
      workSeq: 1,
      dueAt: 17_000,
    });
    expect(await inbox.accept(running ?? session, message('2'), 1)).toBe('accepted');
    expect((await slots.read(agentSlots(session.project))).counted).toBe(1);
  });

  test('of two concurrent first messages both are accepted, with one slot', async () => {
    const { sessions, inbox, slots, create } = stores();
    const session = await create();
    const results = await atOnce(2, (index) => inbox.accept(session, message(String(index)), 1));
    expect(results).toEqual(['accepted', 'accepted']);
    expect((await slots.read(agentSlots(session.project))).counted).toBe(1);
    expect((await sessions.get(session.id))?.workSeq).toBe(2);
  });

  test('a message refused for lack of a slot may be sent again', async () => {
    const { sessions, inbox, create } = stores();
    const project = crypto.randomUUID() as ProjectId;
    const [one, other] = [await create(newSession({ project })), await create(newSession({ project }))];
    await inbox.accept(one, message('m'), 1);
    expect(await inbox.accept(other, message('m'), 1)).toBe('full');
    await sessions.end(one, completed);
    expect(await inbox.accept(other, message('m'), 1)).toBe('accepted');
  });
});

describe('a session ends', () => {
  test('L4: once for twenty concurrent requests, and releases its slot once', async () => {
    const { sessions, slots, create } = stores();
    const session = await create(newExecution());
    await create(newExecution({ owner: session.owner }));
    const ends = await atOnce(20, () => sessions.end(session, stopped));
    expect(tally(ends.map((ended) => ended !== undefined))).toEqual({ true: 1, false: 19 });
    expect((await slots.read(executionSlots(session.owner))).counted).toBe(1);
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
    await inbox.accept(session, message('m'), slotsMax);
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
          inbox.accept(session, message('m'), 100),
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
    await sessions.touch(session, 1001, farAway);
    expect(await sessions.end(session, { ...stopped, unlessMoved: true })).toBeUndefined();
    expect((await sessions.get(session.id))?.status).toBe('creating');
    const seen = (await sessions.get(session.id)) ?? session;
    expect((await sessions.end(seen, { ...stopped, unlessMoved: true }))?.session.status).toBe('stopped');
  });

  test('on request not after a message of the same millisecond', async () => {
    const { sessions, inbox, create, read } = stores();
    const session = await create();
    await inbox.accept(session, message('1'), slotsMax);
    const seen = await read(session.id);
    await inbox.accept(seen, message('2'), slotsMax);
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
    await inbox.accept(session, message('m'), slotsMax);
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
    await sessions.create(session, { slotsMax: slotsMax });
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

  test('is either deleted or takes its first message, never both', async () => {
    const { sessions, inbox, create } = stores();
    const all = await atOnce(20, () => create());
    const outcomes = await Promise.all(
      all.map(async (session) => {
        const [accepted, removed] = await Promise.all([
          inbox.accept(session, message('m'), slotsMax),
          sessions.removeUnused(session),
        ]);
        return `${accepted} ${removed}`;
      }),
    );
    expect(outcomes.filter((outcome) => !['accepted false', 'ended true'].includes(outcome))).toEqual([]);
  });
});

test('a deleted session leaves no item, and no item of another is deleted', async () => {
  const { sessions, eventLog, turns, create } = stores();
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
  await sessions.forget(one.id);
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
  await sessions.forget(one.id);
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
    if (what === 'touch') await sessions.touch(session, 1001, 700);
    if (what === 'lease') await turns.takeLease(session.id, { holder: 'a', at: 10, until: 500 });
    if (what === 'message') await inbox.accept(session, message('m'), slotsMax);
    const moved = await read(session.id);
    expect(await sessions.postpone(session, farAway)).toBe(false);
    expect(await read(session.id)).toEqual(moved);
  });

  test('is listed oldest first, up to the limit', async () => {
    const { sessions, create } = stores();
    const dueAts = [17, 5, 11, 2, 14, 8, 20, 3];
    for (const dueAt of dueAts) await create(newSession({ dueAt }));
    expect((await sessions.due(20, 100)).map(({ dueAt }) => dueAt)).toEqual([2, 3, 5, 8, 11, 14, 17, 20]);
    expect((await sessions.due(20, 3)).map(({ dueAt }) => dueAt)).toEqual([2, 3, 5]);
  });
});
