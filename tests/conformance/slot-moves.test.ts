/** Slots against a real DynamoDB engine: taken and given back in the writes of turns and sandboxes, and never more than the limit. */
import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeSnapshotStore } from '#shared/adapters/aws/dynamo/snapshots.ts';
import { keys } from '#shared/adapters/aws/dynamo/table.ts';
import type { OwnerId, ProjectId, SessionId, SnapshotId, TurnId } from '#shared/domain/ids.ts';
import type { Session } from '#shared/domain/session.ts';
import type { Slot } from '#shared/domain/slot.ts';
import { agentSlots, executionSlots, type SlotHolder, slotHolderOf } from '#shared/domain/slot-holder.ts';
import { type Snapshot, sourceOfSnapshot } from '#shared/domain/snapshot.ts';
import type { TurnCommit } from '#shared/ports/turn-store.ts';
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
import { openTableFixture, sentTwice, type TableFixture } from './table-fixture.ts';

let fixture: TableFixture;
beforeAll(async () => {
  fixture = await openTableFixture();
});
afterAll(() => fixture.close());

const stores = () => onTable(fixture.table);
const resting = { dueAt: farAway, isIdle: true, restsAt: 3000 };
const one = { slotsMax: 1, conversationsMax: 100 };
const completed = { status: 'completed', at: 9000, dueAt: farAway } as const;
const done = { kind: 'done', turnId: 't' as TurnId, stopReason: 'end_turn' } as const;

const countOf = async (holder: SlotHolder) => {
  const { counted, taken } = await stores().slots.read(holder);
  return { counted, held: taken.length };
};

/** A commit of a caller without the lease, at the version that a new turn has. */
const step = (session: Session, change: Partial<TurnCommit>): TurnCommit => ({
  ...{ session, version: 0, state: done, at: 3000, log: [], history: [], historyNext: 0, historyFrom: 0 },
  ...{ historyKept: 0, release: false, wakes: true, dueAt: farAway },
  ...change,
});

/** A session of a project whose turn works. */
const working = async (project: ProjectId): Promise<Session> => {
  const { create, inbox, read } = stores();
  const session = await create(newSession({ project }));
  await inbox.accept(session, message('m'), inboxLimits);
  return read(session.id);
};

const inProject = () => crypto.randomUUID() as ProjectId;

describe('a message', () => {
  test('L3: of a hundred first ones in one project ten are accepted', async () => {
    const { sessions, inbox, turns, slots, create } = stores();
    const project = inProject();
    const all = await atOnce(100, () => create(newSession({ project })));
    const results = await Promise.all(all.map((session) => inbox.accept(session, message('m'), inboxLimits)));
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

  test('behind a turn that works takes none, and is accepted when all are taken', async () => {
    const { inbox, create, read } = stores();
    const session = await create();
    expect(await inbox.accept(session, message('1'), one)).toBe('accepted');
    const running = await read(session.id);
    expect(running).toEqual({
      ...session,
      ...{ status: 'running', lastActiveAt: 2000, workSeq: 1, dueAt: 17_000, slot: { turn: true } },
    });
    expect(await inbox.accept(running, message('2'), one)).toBe('accepted');
    expect(await countOf(agentSlots(session.project))).toEqual({ counted: 1, held: 1 });
  });

  test('that was accepted before is known again, whatever is full since, also by a caller with an older session', async () => {
    const { inbox, turns, create, read } = stores();
    const project = inProject();
    const made = await create(newSession({ project }));
    const limits = { slotsMax: 1, conversationsMax: 1 };
    expect(await inbox.accept(made, message('m'), limits)).toBe('accepted');
    const running = await read(made.id);
    const rested = { slot: { known: { turn: true }, change: 'turn-rested' }, wakes: false } as const;
    const ended = { ...rested, completed: message('m'), patch: { status: 'idle' } as const };
    expect((await turns.commit(step(running, ended))).status).toBe('committed');
    expect(await inbox.accept(await create(newSession({ project })), message('m'), one)).toBe('accepted');
    for (const session of [made, running, await read(made.id)])
      expect(await inbox.accept(session, message('m'), limits)).toBe('duplicate');
    expect(await inbox.accept(await read(made.id), message('other'), limits)).toBe('full');
  });

  test('beside another first one is accepted with it, and they take one slot', async () => {
    const { inbox, create, read } = stores();
    const session = await create();
    const results = await atOnce(2, (index) => inbox.accept(session, message(String(index)), one));
    expect(results).toEqual(['accepted', 'accepted']);
    expect(await countOf(agentSlots(session.project))).toEqual({ counted: 1, held: 1 });
    expect((await read(session.id)).workSeq).toBe(2);
  });

  test('that found no slot may be sent again', async () => {
    const { sessions, inbox, create } = stores();
    const project = inProject();
    const [first, other] = [await create(newSession({ project })), await create(newSession({ project }))];
    await inbox.accept(first, message('m'), one);
    expect(await inbox.accept(other, message('m'), one)).toBe('full');
    await sessions.end(first, completed);
    expect(await inbox.accept(other, message('m'), one)).toBe('accepted');
  });

  test('to a session that was read before its turn rested takes its slot anew', async () => {
    const { inbox, turns, read } = stores();
    const before = await working(inProject());
    const slot = { change: 'turn-rested', known: { turn: true } } as const;
    const rested = step(before, { patch: { status: 'idle' }, slot, wakes: false, completed: message('m') });
    expect((await turns.commit(rested)).status).toBe('committed');
    expect(await countOf(slotHolderOf(before))).toEqual({ counted: 0, held: 0 });
    expect(await inbox.accept(before, message('next'), one)).toBe('accepted');
    expect((await read(before.id)).slot).toEqual({ turn: true });
    expect(await countOf(slotHolderOf(before))).toEqual({ counted: 1, held: 1 });
  });
});

describe('a turn', () => {
  const rests = { change: 'turn-rested', known: { turn: true } } as const;
  const begins = { change: 'turn-began', known: {}, slotsMax: 1 } as const;

  test('that waits for a person gives its slot back, and takes one with the decision', async () => {
    const { turns, read } = stores();
    const session = await working(inProject());
    const asked = await turns.commit(step(session, { slot: rests }));
    expect(asked).toMatchObject({ status: 'committed', session: { slot: {} } });
    expect(await countOf(slotHolderOf(session))).toEqual({ counted: 0, held: 0 });
    const waiting = await read(session.id);
    expect(waiting.slot).toEqual({});
    const decided = await turns.commit(step(waiting, { version: 1, slot: begins }));
    expect(decided).toMatchObject({ status: 'committed', session: { slot: { turn: true } } });
    expect(await countOf(slotHolderOf(session))).toEqual({ counted: 1, held: 1 });
  });

  test('that needs a slot where none is free writes nothing', async () => {
    const { turns, read } = stores();
    const project = inProject();
    const session = await working(project);
    await turns.commit(step(session, { slot: rests }));
    await working(project);
    const waiting = await read(session.id);
    const decided = step(waiting, { version: 1, slot: begins, log: [note('decided')] });
    expect(await turns.commit(decided)).toEqual({ status: 'full' });
    expect(await read(session.id)).toEqual(waiting);
  });

  test('keeps its slot when a message came since its end was decided', async () => {
    const { turns, inbox, read } = stores();
    const session = await working(inProject());
    const held = await turns.takeLease(session.id, { holder: 'a', at: 2500, until: 9999 });
    await inbox.accept(session, message('next'), one);
    const ends = { fence: held?.lease.fence ?? 0, slot: rests, release: true, wakes: false };
    expect((await turns.commit(step(held ?? session, ends))).status).toBe('kept');
    expect((await read(session.id)).slot).toEqual({ turn: true });
    expect(await countOf(slotHolderOf(session))).toEqual({ counted: 1, held: 1 });
  });

  test('whose holder finds nothing to do gives its slot back with the lease', async () => {
    const { turns, read } = stores();
    const session = await working(inProject());
    const held = await turns.takeLease(session.id, { holder: 'a', at: 2500, until: 9999 });
    const ended = { fence: 1, completed: message('m'), wakes: false };
    const after = await turns.commit(step(held ?? session, ended));
    if (after.status !== 'committed') throw new Error(after.status);
    expect(await turns.releaseLease(after.session, resting)).toBe('released');
    expect(await read(session.id)).toMatchObject({ slot: {}, lease: { holder: '', until: 0 } });
    expect(await countOf(slotHolderOf(session))).toEqual({ counted: 0, held: 0 });
  });

  test('that another holder has taken over keeps its slot', async () => {
    const { turns } = stores();
    const session = await working(inProject());
    const held = await turns.takeLease(session.id, { holder: 'a', at: 2500, until: 2600 });
    await turns.takeLease(session.id, { holder: 'b', at: 2700, until: 9999 });
    expect(await turns.releaseLease(held ?? session, resting)).toBe('stale');
    expect(await countOf(slotHolderOf(session))).toEqual({ counted: 1, held: 1 });
  });
});

const claimed = (session: Session, generation = 1) =>
  newSandbox({ generation, slot: { holder: slotHolderOf(session), session: session.id } });
const start = (session: Session, known: Slot = {}, slotsMax = 10) =>
  stores().workspaces.claimStart(session.workspace, claimed(session), { known, slotsMax });

const snapshotStore = () => makeSnapshotStore(fixture.table);
const emptySnapshot = ({ owner, project, workspace, id: session }: Session): Snapshot => ({
  ...{ id: crypto.randomUUID() as SnapshotId, owner, project, workspace, session, name: 'empty', at: 6000 },
});
const emptyCheckpoint = {
  ...{ id: 'back', sha256: 'ab', savedAt: 6500, generation: 1, files: 0, bytes: 0, packs: [] },
};
const restoreTimes = { reason: 'a snapshot was restored', at: 7000, dueAt: 8000, audits: [] };

describe('a sandbox', () => {
  test('L3: of a hundred that start at once for one owner ten get a slot', async () => {
    const { create, workspaces } = stores();
    const owner = crypto.randomUUID() as OwnerId;
    const all = await atOnce(100, () => create(newExecution({ owner })));
    const results = await Promise.all(all.map((session) => start(session)));
    expect(tally(results)).toEqual({ claimed: 10, full: 90 });
    expect(await countOf(executionSlots(owner))).toEqual({ counted: 10, held: 10 });
    const refused = all.filter((_, index) => results[index] === 'full');
    const found = await workspaces.getMany(refused.map(({ workspace }) => workspace));
    expect(found.filter(({ sandbox }) => sandbox !== undefined)).toEqual([]);
  });

  test('L4: gives its slot back once, with its first phase, for twenty stops at once', async () => {
    const { create, workspaces, readWorkspace } = stores();
    const session = await create(newExecution());
    await start(session);
    const stop = { reason: 'idle', at: 7000, dueAt: 8000 };
    await atOnce(20, (index) => workspaces.markStopping(session.workspace, 1, { ...stop, at: 7000 + index }));
    expect(await countOf(slotHolderOf(session))).toEqual({ counted: 0, held: 0 });
    expect((await readWorkspace(session.workspace)).sandbox).toMatchObject({ state: 'stopping' });
    expect((await readWorkspace(session.workspace)).sandbox).not.toHaveProperty('slot');
    await workspaces.markStopped(session.workspace, 1, { reason: 'exit code 0', at: 8000 });
    expect(await countOf(slotHolderOf(session))).toEqual({ counted: 0, held: 0 });
  });

  test('L4: gives its slot back in the write that restores a snapshot, for five restores at once', async () => {
    const { create, workspaces, snapshots, readWorkspace } = { ...stores(), snapshots: snapshotStore() };
    const session = await create(newExecution());
    await start(session);
    const workspace = await readWorkspace(session.workspace);
    const snapshot = emptySnapshot(session);
    await snapshots.create(snapshot, { snapshotsMax: 9, audits: [] });
    const restore = { ...restoreTimes, checkpoint: emptyCheckpoint, source: sourceOfSnapshot(snapshot) };
    const results = await atOnce(5, () => workspaces.restoreTo(workspace, [], restore));
    expect(results.filter((result) => result !== undefined)).toHaveLength(1);
    expect((await readWorkspace(session.workspace)).sandbox).not.toHaveProperty('slot');
    await workspaces.markStopped(session.workspace, 1, { reason: 'exit code 0', at: 8000 });
    expect(await countOf(slotHolderOf(session))).toEqual({ counted: 0, held: 0 });
  });

  test('L4: that dies by itself gives its slot back once', async () => {
    const { create, workspaces } = stores();
    const session = await create(newExecution());
    await start(session);
    const ends = await atOnce(20, () =>
      workspaces.markStopped(session.workspace, 1, { reason: 'out of memory', at: 8000 }),
    );
    expect(ends.filter((ended) => ended !== undefined)).toHaveLength(1);
    expect(await countOf(slotHolderOf(session))).toEqual({ counted: 0, held: 0 });
  });

  test('of a turn that works shares its slot, keeps it when the turn rests, and is shared by the next turn', async () => {
    const { turns, inbox, workspaces, slots, read } = stores();
    const session = await working(inProject());
    const { workspace, id } = session;
    expect(await start(session, session.slot, 1)).toBe('claimed');
    const sandbox = { workspace, generation: 1, flavor: 'micro' as const };
    const { taken } = await slots.read(slotHolderOf(session));
    expect(taken).toEqual([{ session: id, turn: true, sandbox, movedAt: 5000 }]);
    // The session's record knows the turn alone: the write finds the rest.
    const slot = { change: 'turn-rested', known: { turn: true } } as const;
    const ended = { slot, patch: { status: 'idle' }, wakes: false, completed: message('m') } as const;
    const rested = await turns.commit(step(session, ended));
    expect(rested).toMatchObject({ status: 'committed', session: { slot: { sandbox } } });
    expect(await countOf(slotHolderOf(session))).toEqual({ counted: 1, held: 1 });
    expect(await inbox.accept(await read(id), message('next'), one)).toBe('accepted');
    await workspaces.markStopping(workspace, 1, { reason: 'idle', at: 7000, dueAt: 8000 });
    expect(await countOf(slotHolderOf(session))).toEqual({ counted: 1, held: 1 });
  });

  test('an earlier version started without a slot stops without one', async () => {
    const { create, workspaces } = stores();
    const session = await create(newExecution());
    await workspaces.claimStart(session.workspace, newSandbox());
    const stopped = await workspaces.markStopped(session.workspace, 1, { reason: 'gone', at: 8000 });
    expect(stopped?.sandbox?.state).toBe('stopped');
    expect(await countOf(slotHolderOf(session))).toEqual({ counted: 0, held: 0 });
  });
});

describe('a slot that an earlier version took for a session', () => {
  const old = async (): Promise<Session> => {
    const { create } = stores();
    const { client, name } = fixture.table;
    const session = await create(newSession({ status: 'idle' }));
    const holder = slotHolderOf(session);
    const Item = { ...keys.slot(holder, session.id), session: session.id, flavor: 'micro', takenAt: 1 };
    await client.send(new PutCommand({ TableName: name, Item }));
    await client.send(
      new UpdateCommand({
        TableName: name,
        Key: keys.slots(holder),
        UpdateExpression: 'ADD active :one, version :one',
        ExpressionAttributeValues: { ':one': 1 },
      }),
    );
    return session;
  };

  test('is taken over by its next turn, and counted once', async () => {
    const { inbox, slots } = stores();
    const session = await old();
    expect((await slots.read(slotHolderOf(session))).taken).toEqual([{ session: session.id, isOld: true }]);
    expect(await inbox.accept(session, message('m'), one)).toBe('accepted');
    expect((await slots.read(slotHolderOf(session))).taken).toEqual([
      { session: session.id, turn: true, movedAt: 2000 },
    ]);
    expect(await countOf(slotHolderOf(session))).toEqual({ counted: 1, held: 1 });
  });

  test('does not hinder the end of its session, and is released by the audit', async () => {
    const { sessions, slots } = stores();
    const session = await old();
    expect(await sessions.end(session, completed)).toBeDefined();
    const holder = slotHolderOf(session);
    const [held] = (await slots.read(holder)).taken;
    expect(held && (await slots.correct(holder, held, { slot: {}, at: 9500 }))).toBe(true);
    expect(await countOf(holder)).toEqual({ counted: 0, held: 0 });
  });
});

describe('the conversations of a project', () => {
  test('are limited, whatever their turns do, and one that ends makes room', async () => {
    const { sessions, inbox, turns, create, read } = stores();
    const project = inProject();
    const limits = { slotsMax: 10, conversationsMax: 1 };
    const [first, other] = [await create(newSession({ project })), await create(newSession({ project }))];
    expect(await inbox.accept(first, message('m'), limits)).toBe('accepted');
    const slot = { change: 'turn-rested', known: { turn: true } } as const;
    await turns.commit(step(await read(first.id), { slot, patch: { status: 'idle' }, wakes: false }));
    expect(await inbox.accept(other, message('m'), limits)).toBe('conversations');
    expect(await inbox.accept(await read(first.id), message('next'), limits)).toBe('accepted');
    await sessions.end(await read(first.id), completed);
    expect(await inbox.accept(other, message('m'), limits)).toBe('accepted');
  });

  test('have one more when an ended session is resumed, and refuse it when there are as many as may be', async () => {
    const { sessions, readWorkspace, read } = stores();
    const project = inProject();
    const session = await working(project);
    await sessions.end(session, completed);
    await working(project);
    const resuming = { at: 9500, dueAt: farAway, log: [note('again')], audits: [] };
    const ended = await read(session.id);
    expect(await sessions.resume(ended, { ...resuming, conversationsMax: 1 })).toEqual({ status: 'full' });
    const resumed = await sessions.resume(ended, { ...resuming, conversationsMax: 2 });
    expect(resumed).toMatchObject({ status: 'resumed', session: { status: 'idle', grants: [] } });
    expect('session' in resumed && resumed.session).toEqual(await read(session.id));
    expect((await readWorkspace(session.workspace)).users).toEqual([session.id]);
    expect(await sessions.resume(ended, { ...resuming, conversationsMax: 9 })).toEqual({ status: 'moved' });
  });
});

describe('a session that was resumed', () => {
  test('stays in its workspace although its end comes late', async () => {
    const { sessions, workspaces, readWorkspace, read } = stores();
    const session = await working(inProject());
    await sessions.end(session, completed);
    const resuming = { at: 9500, dueAt: farAway, conversationsMax: 9, log: [], audits: [] };
    await sessions.resume(await read(session.id), resuming);
    expect(await workspaces.leave(session.workspace, session.id)).toBeUndefined();
    expect((await readWorkspace(session.workspace)).users).toEqual([session.id]);
  });

  test('may be worked on at once, and by none that had its turn before its end', async () => {
    const { sessions, turns, read } = stores();
    const { id } = await working(inProject());
    const held = await turns.takeLease(id, { holder: 'before', at: 8000, until: 20_000 });
    await sessions.end(await read(id), completed);
    const resuming = { at: 9500, dueAt: farAway, conversationsMax: 9, log: [], audits: [] };
    const resumed = await sessions.resume(await read(id), resuming);
    expect('session' in resumed && resumed.session).toEqual(await read(id));
    expect(held && (await turns.renewLease(held, 21_000))).toBe(false);
    const next = await turns.takeLease(id, { holder: 'next', at: 9600, until: 21_000 });
    expect(next?.lease).toMatchObject({ holder: 'next', until: 21_000 });
    expect(next?.lease.fence).toBeGreaterThan(held?.lease.fence ?? 0);
  });

  test('is one of twenty that were asked for', async () => {
    const { sessions, read } = stores();
    const session = await working(inProject());
    await sessions.end(session, completed);
    const ended = await read(session.id);
    const resuming = { at: 9500, dueAt: farAway, conversationsMax: 9, log: [], audits: [] };
    const results = await atOnce(20, () => sessions.resume(ended, resuming));
    expect(tally(results.map(({ status }) => status))).toEqual({ resumed: 1, moved: 19 });
  });

  test('needs its workspace', async () => {
    const { sessions, workspaces, read } = stores();
    const session = await working(inProject());
    await sessions.end(session, completed);
    await workspaces.leave(session.workspace, session.id);
    await workspaces.remove(session.workspace, 7000);
    const resuming = { at: 9500, dueAt: farAway, conversationsMax: 9, log: [], audits: [] };
    expect(await sessions.resume(await read(session.id), resuming)).toEqual({ status: 'gone' });
  });
});

describe('an execution session', () => {
  const ready = async () => {
    const { create, sessions } = stores();
    const session = await create(newExecution({ status: 'ready' }));
    await sessions.touch(session, activeAt(4000, farAway));
    return stores().read(session.id);
  };

  test('is paused unless it moved, and its next call makes it run', async () => {
    const { sessions, read, isSessionDue } = stores();
    const session = await ready();
    expect(await sessions.pause(session, 70_000)).toBe(true);
    expect(await read(session.id)).toMatchObject({ status: 'paused', lastActiveAt: 4000, dueAt: 70_000 });
    expect([await isSessionDue(session.id, 69_999), await isSessionDue(session.id, 70_000)]).toEqual([
      false,
      true,
    ]);
    expect(await sessions.pause(session, 70_000)).toBe(false);
    const call = { key: 'k', at: 5000, until: 6000, idleMs: 4000 };
    expect(await sessions.beginCall(session.id, call)).toMatchObject({ status: 'running' });
    await sessions.endCall(session.id, { key: 'k', at: 5500, idleMs: 3500 });
    expect((await read(session.id)).status).toBe('ready');
  });

  test('is paused by the repeat of a request whose answer was lost, and by no other', async () => {
    const session = await ready();
    const { sessions } = onTable(sentTwice(fixture.table));
    expect(await sessions.pause(session, 70_000)).toBe(true);
    expect(await sessions.pause(session, 70_000)).toBe(false);
  });

  test('is not paused by a reader that is out of date', async () => {
    const { sessions, read } = stores();
    const session = await ready();
    await sessions.touch(session, activeAt(4001, farAway));
    expect(await sessions.pause(session, 70_000)).toBe(false);
    expect((await read(session.id)).status).toBe('ready');
  });

  test('is ready when its sandbox runs without a call, and due as any other', async () => {
    const { sessions, read } = stores();
    const session = await ready();
    await sessions.pause(session, 70_000);
    await sessions.recordReady(session.id, { at: 7000, idleMs: 1000 });
    expect(await read(session.id)).toMatchObject({ status: 'ready', dueAt: 8000 });
  });

  test('is paused again when the sandbox of its call never came', async () => {
    const { sessions, read } = stores();
    const session = await ready();
    await sessions.pause(session, 70_000);
    await sessions.beginCall(session.id, { key: 'k', at: 5000, until: 6000, idleMs: 4000 });
    await sessions.endCall(session.id, { key: 'k', at: 5500, idleMs: 3500, isWithoutSandbox: true });
    expect((await read(session.id)).status).toBe('paused');
  });

  test('is paused in the write that marks its idle sandbox', async () => {
    const { workspaces, readWorkspace, read, sessions } = stores();
    const session = await ready();
    await start(session);
    await workspaces.markReady(session.workspace, 1, { at: 6000 });
    const workspace = await readWorkspace(session.workspace);
    const stop = { reason: 'idle', at: 70_000, dueAt: 70_500, pausedUntil: () => 900_000 };
    const before = await read(session.id);
    await sessions.touch(before, activeAt(4002, farAway));
    expect(await workspaces.markIdle(workspace, [before], stop)).toBeUndefined();
    const now = await read(session.id);
    expect((await workspaces.markIdle(workspace, [now], stop))?.sandbox?.state).toBe('stopping');
    expect(await read(session.id)).toMatchObject({ status: 'paused', dueAt: 900_000 });
    expect(await countOf(slotHolderOf(session))).toEqual({ counted: 0, held: 0 });
  });
});

test('a new session of its own workspace is made without a slot', async () => {
  const { sessions } = stores();
  const session = newExecution();
  expect(await sessions.create(session, { workspace: workspaceOf(session) })).toBe('created');
  expect(await countOf(slotHolderOf(session))).toEqual({ counted: 0, held: 0 });
});
