/** The session store against a real DynamoDB engine: every lost condition, the log without gaps, the lease with its fence. */
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { keys } from '#shared/adapters/aws/dynamo/table.ts';
import type { ConnectionId, MessageId, SessionId } from '#shared/domain/ids.ts';
import { deploymentOwner } from '#shared/domain/principal.ts';
import type { Session } from '#shared/domain/session.ts';
import {
  activeAt,
  atOnce,
  commitOf,
  inboxLimits,
  message,
  newSession,
  note,
  onTable,
  workspaceOf,
} from './session-fixture.ts';
import { openFileTable, sentTwice } from './table-fixture.ts';

const fixture = openFileTable();

const stores = () => ({
  ...onTable(fixture.table),
  connections: makeConnectionStore(fixture.table),
});

const created = (): Promise<Session> => stores().create();

const leased = async (id: SessionId, holder = 'a'): Promise<Session> => {
  const session = await stores().turns.takeLease(id, { holder, at: 10, until: 1000 });
  if (session === undefined) throw new Error('the lease was not free');
  return session;
};

test('a session is created once and read back whole', async () => {
  const by = { kind: 'person' as const, id: 'ada' };
  const grant = { id: 'g1', tool: 'execute_code', identity: '["sandbox","execute_code"]', by, at: 5 };
  const session = newSession({ dueAt: 90_000, allowSmallerFlavor: true, grants: [grant] });
  const options = { workspace: workspaceOf(session) };
  expect(await stores().sessions.create(session, options)).toBe('created');
  expect(await stores().sessions.create(session, options)).toBe('exists');
  expect(await stores().sessions.get(session.id)).toEqual(session);
});

test('a lease is acquired once, again when it has expired, and each time under the next fence', async () => {
  const { turns } = stores();
  const { id } = await created();
  const first = await turns.takeLease(id, { holder: 'a', at: 10, until: 40 });
  expect(first?.lease).toEqual({ holder: 'a', fence: 1, until: 40 });
  expect(await turns.takeLease(id, { holder: 'b', at: 40, until: 70 })).toBeUndefined();
  const second = await turns.takeLease(id, { holder: 'b', at: 41, until: 71 });
  expect(second?.lease).toEqual({ holder: 'b', fence: 2, until: 71 });
  expect(await turns.renewLease(first as Session, 90)).toBe(false);
  expect(await turns.renewLease(second as Session, 91)).toBe(true);
});

test('a released lease is not renewed, and is free at once', async () => {
  const { turns } = stores();
  const { id } = await created();
  const released = await leased(id);
  expect(await turns.releaseLease(released, { dueAt: 5000, isIdle: false })).toBe('released');
  expect(await turns.renewLease(released, 9000)).toBe(false);
  const committed = await turns.takeLease(id, { holder: 'b', at: 20, until: 40 });
  expect(committed?.lease.holder).toBe('b');
  const done = commitOf(committed as Session, { release: true });
  expect(await turns.commit(done)).toMatchObject({ status: 'committed' });
  expect(await turns.renewLease(committed as Session, 9000)).toBe(false);
  expect((await turns.takeLease(id, { holder: 'c', at: 50, until: 80 }))?.lease.fence).toBe(3);
});

test('a holder that lost its lease cannot commit', async () => {
  const { sessions, turns } = stores();
  const { id } = await created();
  const late = await leased(id);
  await turns.takeLease(id, { holder: 'b', at: 2000, until: 3000 });
  expect(await turns.commit(commitOf(late))).toEqual({ status: 'stale' });
  expect((await sessions.get(id))?.lastSeq).toBe(-1);
});

test('a commit replaces the running calls of its session, by keys with any characters', async () => {
  const { sessions, turns } = stores();
  const session = await leased((await created()).id);
  const runningCalls = { 'tool:t:1:call#1.a': 5000 };
  const first = await turns.commit(commitOf(session, { patch: { runningCalls } }));
  if (first.status !== 'committed') throw new Error(first.status);
  expect((await sessions.get(session.id))?.runningCalls).toEqual(runningCalls);
  await turns.commit(commitOf(first.session, { version: 1, patch: { runningCalls: {} } }));
  expect((await sessions.get(session.id))?.runningCalls).toEqual({});
});

test('T15: of two commits from one version only one is written', async () => {
  const { turns, eventLog } = stores();
  const session = await leased((await created()).id);
  const results = await Promise.all([turns.commit(commitOf(session)), turns.commit(commitOf(session))]);
  expect(results.map(({ status }) => status).sort()).toEqual(['committed', 'moved']);
  const { events } = await eventLog.read(session.id, { since: -1, eventsMax: 10 });
  expect(events.map(({ seq }) => seq)).toEqual([0]);
});

test('a log that grew during a commit is renumbered, not refused', async () => {
  const { eventLog, turns } = stores();
  const session = await leased((await created()).id);
  await eventLog.append(session.id, [note('from outside')], 15);
  const result = await turns.commit(commitOf(session, { log: [note('a'), note('b')] }));
  expect(result.status === 'committed' && result.events.map(({ seq }) => seq)).toEqual([1, 2]);
});

test('a step that meets a changed limit of money is written, and the next one has it', async () => {
  const { eventLog, sessions, turns } = stores();
  const session = await leased((await created()).id);
  await sessions.change(session.id, { limits: { ownCostUsdMax: 1 } });
  await eventLog.append(session.id, [note('from outside')], 15);
  const result = await turns.commit(commitOf(session));
  expect(result.status === 'committed' && result.session.limits).toEqual({ ownCostUsdMax: 1 });
  await sessions.change(session.id, { limits: undefined });
  expect(await sessions.get(session.id)).not.toHaveProperty('limits');
});

test('a step that meets a changed tree is written, and the next one spends of the slices of now (TM8)', async () => {
  const { create, eventLog, sessions, turns } = stores();
  const root = (await create()).id;
  const tree = { root, parent: root };
  const child = newSession({ depth: 1, tree });
  await create(child);
  const session = await leased(child.id);
  const sliced = { ...tree, slices: [child.id] };
  await sessions.change(child.id, { tree: sliced });
  await eventLog.append(child.id, [note('from outside')], 15);
  const result = await turns.commit(commitOf(session));
  expect(result.status === 'committed' && result.session.tree).toEqual(sliced);
});

test('TM6: a step that goes on or ends by the limit of money is read again when that has changed', async () => {
  const { eventLog, sessions, turns } = stores();
  const session = await leased((await created()).id);
  await eventLog.append(session.id, [note('from outside')], 15);
  // Any other change of the log is none.
  expect(await turns.commit(commitOf(session, { weighsMoney: true }))).toMatchObject({ status: 'committed' });
  for (const limits of [{ ownCostUsdMax: 1 }, { ownCostUsdMax: 2 }, undefined]) {
    const read = (await sessions.get(session.id)) ?? session;
    await sessions.change(session.id, { limits });
    await eventLog.append(session.id, [note('budget_changed')], 16);
    const weighed = commitOf(read, { version: 1, weighsMoney: true });
    expect(await turns.commit(weighed)).toEqual({ status: 'moved' });
  }
});

test('tokens of a turn that ended since the session was read are never overwritten: the step is read again', async () => {
  const { turns, read } = stores();
  const held = await leased((await created()).id);
  const usage = { inputTokens: 600, outputTokens: 100 };
  const cancel = commitOf(held, { fence: undefined, patch: { usage } });
  expect((await turns.commit(cancel)).status).toBe('committed');
  const step = { version: 1, patch: { usage: { inputTokens: 5, outputTokens: 2 } } };
  expect(await turns.commit(commitOf(held, step))).toEqual({ status: 'moved' });
  expect(await turns.commit(commitOf(held, { ...step, fence: undefined }))).toEqual({ status: 'moved' });
  const now = await read(held.id);
  expect(now.usage).toEqual(usage);
  expect((await turns.commit(commitOf(now, { ...step, log: [] }))).status).toBe('committed');
});

test('T14: fifty writers leave a log without gaps or repeats', async () => {
  const { eventLog } = stores();
  const { id } = await created();
  await atOnce(50, (index) => eventLog.append(id, [note(String(index))], index));
  const { events } = await eventLog.read(id, { since: -1, eventsMax: 100 });
  expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 50 }, (_, index) => index));
  expect(new Set(events.map(({ data }) => JSON.stringify(data))).size).toBe(50);
});

test('the log is a ring of a thousand', async () => {
  const { eventLog } = stores();
  const { id } = await created();
  for (let batch = 0; batch < 26; batch += 1)
    await eventLog.append(
      id,
      Array.from({ length: 40 }, () => note('x')),
      batch,
    );
  const { events, hasMore } = await eventLog.read(id, { since: -1, eventsMax: 1000 });
  expect([events[0]?.seq, events.at(-1)?.seq, events.length, hasMore]).toEqual([40, 1039, 1000, false]);
});

test('concurrent work keeps the lease, and the holder is told', async () => {
  const { sessions, inbox, turns } = stores();
  const session = await leased((await created()).id);
  await inbox.accept(session, message('m1'), inboxLimits);
  const result = await turns.commit(commitOf(session, { release: true }));
  expect(result.status).toBe('kept');
  expect((await sessions.get(session.id))?.lease).toEqual(session.lease);
});

test('work that arrived while the log grew keeps the lease at a later commit', async () => {
  const { inbox, eventLog, turns } = stores();
  const session = await leased((await created()).id);
  await inbox.accept(session, message('m1'), inboxLimits);
  await eventLog.append(session.id, [note('from outside')], 15);
  const first = await turns.commit(commitOf(session));
  if (first.status !== 'committed') throw new Error(first.status);
  const second = await turns.commit(commitOf(first.session, { version: 1, release: true }));
  expect(second.status).toBe('kept');
});

test('a commit releases the lease together with its state', async () => {
  const { sessions, turns } = stores();
  const session = await leased((await created()).id);
  const result = await turns.commit(commitOf(session, { release: true }));
  expect(result.status).toBe('committed');
  expect((await sessions.get(session.id))?.lease).toEqual({ holder: '', fence: 1, until: 0 });
});

test('a writer without the lease that wakes nothing brings the next look forward, and never back', async () => {
  const { sessions, turns, read } = stores();
  const first = await leased((await created()).id);
  await turns.releaseLease(first, { dueAt: 5000, isIdle: false });
  const write = async (version: number, dueAt: number, putOffTo?: number): Promise<number | undefined> => {
    const session = await read(first.id);
    if (putOffTo !== undefined) expect(await sessions.postpone(session, putOffTo)).toBe(true);
    await turns.commit(commitOf(session, { version, fence: undefined, dueAt }));
    return (await sessions.get(first.id))?.dueAt;
  };
  expect([await write(0, 6000), await write(1, 4000), await write(2, 4500)]).toEqual([5000, 4000, 4000]);
  // The janitor came between: it looked at a session that was not active yet.
  expect(await write(3, 4500, 9000)).toBe(4000);
});

test('L5: a heartbeat that is newer than the event of a commit stays, and one that is older does not', async () => {
  const { sessions, turns, read } = stores();
  const session = await leased((await created()).id);
  await sessions.touch(session, activeAt(9000, 90_000));
  const commit = async (of: Session, version: number, lastActiveAt: number) => {
    const result = await turns.commit(commitOf(of, { version, patch: { lastActiveAt } }));
    const written = result.status === 'committed' ? result.session.lastActiveAt : result.status;
    return [written, (await read(session.id)).lastActiveAt];
  };
  expect(await commit(session, 0, 8000)).toEqual([9000, 9000]);
  expect(await commit(await read(session.id), 1, 9500)).toEqual([9500, 9500]);
});

test('a message is accepted once under its id', async () => {
  const { inbox, turns } = stores();
  const session = await created();
  expect(await inbox.accept(session, message('m1'), inboxLimits)).toBe('accepted');
  expect(await inbox.accept(session, message('m1', 2099), inboxLimits)).toBe('duplicate');
  expect((await turns.loadWork(session.id)).inbox).toEqual([message('m1')]);
});

test('a connection has at most five open messages, and a completed one frees room for one', async () => {
  const { inbox, turns } = stores();
  const session = await created();
  const { id } = session;
  const of = (messageId: string) => ({ ...message(messageId), connectionId: `c-${id}` as ConnectionId });
  for (const messageId of ['1', '2', '3', '4', '5'])
    expect(await inbox.accept(session, of(messageId), inboxLimits)).toBe('accepted');
  expect(await inbox.accept(session, of('6'), inboxLimits)).toBe('too-many');
  await turns.commit(commitOf(await leased(id), { completed: of('1') }));
  expect(await inbox.accept(session, of('7'), inboxLimits)).toBe('accepted');
  expect((await turns.loadWork(id)).inbox.map(({ messageId }) => messageId)).toEqual([
    '2',
    '3',
    '4',
    '5',
    '7',
  ]);
});

test('WS6: a hundred messages wait behind the one in progress, and no more even when many arrive concurrently', async () => {
  const { inbox, turns } = stores();
  const session = await created();
  const { id } = session;
  const ids = Array.from({ length: 130 }, (_, index) => String(index));
  const results = await Promise.all(ids.map((one) => inbox.accept(session, message(one), inboxLimits)));
  expect(results.filter((result) => result === 'accepted')).toHaveLength(101);
  expect(results.filter((result) => result === 'crowded')).toHaveLength(29);
  const work = await turns.loadWork(id);
  expect(work.inbox).toHaveLength(101);
  // One that waits is acknowledged again, and a completed one makes room for one.
  const waiting = work.inbox[0]?.messageId ?? '';
  expect(await inbox.accept(session, message(waiting), inboxLimits)).toBe('duplicate');
  await turns.commit(commitOf(await leased(id), { completed: message(waiting) }));
  expect(await inbox.accept(session, message('next'), inboxLimits)).toBe('accepted');
  expect(await inbox.accept(session, message('one more'), inboxLimits)).toBe('crowded');
});

test('messages of sixteen megabytes wait in a session, and no byte more', async () => {
  const { inbox, turns } = stores();
  const session = await created();
  const { id } = session;
  // An euro sign has three bytes.
  const long = (messageId: string, bytes = 1_048_576) => ({
    ...message(messageId),
    text: `${'€'.repeat(Math.floor(bytes / 3))}${'x'.repeat(bytes % 3)}`,
  });
  for (let index = 0; index < 15; index += 1)
    expect(await inbox.accept(session, long(String(index)), inboxLimits)).toBe('accepted');
  expect(await inbox.accept(session, long('too long', 1_048_577), inboxLimits)).toBe('crowded');
  expect(await inbox.accept(session, long('fits'), inboxLimits)).toBe('accepted');
  expect(await inbox.accept(session, long('one byte', 1), inboxLimits)).toBe('crowded');
  await turns.commit(commitOf(await leased(id), { completed: long('0') }));
  expect(await inbox.accept(session, long('after'), inboxLimits)).toBe('accepted');
});

test('an ended session accepts no message and no commit, and stays ended', async () => {
  const { sessions, inbox, turns } = stores();
  const session = await leased((await created()).id);
  const ended = await sessions.end(session, { status: 'completed', at: 50, dueAt: 90_000 });
  expect(ended).toEqual({
    session: { ...session, status: 'completed', lastActiveAt: 50, dueAt: 90_000 },
    events: [],
  });
  expect(await sessions.end(session, { status: 'failed', at: 60, dueAt: 90_000 })).toBeUndefined();
  expect(await inbox.accept(session, message('m'), inboxLimits)).toBe('ended');
  expect(await turns.commit(commitOf(session))).toEqual({ status: 'stale' });
});

test('an ended session stays due as its end left it, though its last holder lets go of its lease (CH4)', async () => {
  const { sessions, turns, read } = stores();
  const session = await leased((await created()).id);
  await sessions.end(session, { status: 'completed', at: 50, dueAt: 777 });
  expect(await turns.releaseLease(session, { dueAt: 90_000, isIdle: true })).toBe('stale');
  expect(await read(session.id)).toMatchObject({ status: 'completed', dueAt: 777 });
});

test('a message completed after its counter was deleted leaves no item', async () => {
  const { turns, inbox, item } = stores();
  const session = await created();
  const connectionId = crypto.randomUUID() as ConnectionId;
  const completed = { ...message('m'), connectionId };
  const key = keys.openMessages(connectionId);
  await inbox.accept(session, completed, inboxLimits);
  const { client, name: TableName } = fixture.table;
  await client.send(new DeleteCommand({ TableName, Key: key }));
  await turns.commit(commitOf(await leased(session.id), { completed, at: 5000 }));
  expect(await item(key)).toEqual({ ...key, openMessages: -1, ttl: 86_405 });
});

test('a message leaves once: a writer that still saw it writes nothing', async () => {
  const { turns, inbox, read } = stores();
  const { id } = await created();
  const completed = message('m');
  await inbox.accept(await read(id), completed, inboxLimits);
  await turns.commit(commitOf(await leased(id), { completed }));
  const late = commitOf(await read(id), { version: 1, completed });
  expect(await turns.commit(late)).toEqual({ status: 'moved' });
  const { turn } = await turns.loadWork(id);
  expect(turn.version).toBe(1);
  expect(await inbox.accept(await read(id), message('next'), inboxLimits)).toBe('accepted');
});

test('history and state are read as they were written, and the oldest can be deleted', async () => {
  const { sessions, turns } = stores();
  const session = await leased((await created()).id);
  const history = ['a', 'b', 'c'].map((text) => ({
    role: 'user' as const,
    messageId: text as MessageId,
    text,
  }));
  await turns.commit(commitOf(session, { history }));
  const now = (await sessions.get(session.id)) as Session;
  await turns.commit(commitOf(now, { version: 1, historyNext: 3, historyFrom: 2 }));
  const work = await turns.loadWork(session.id);
  expect(work.history).toEqual(history.slice(2));
  expect(work.turn).toEqual({
    version: 2,
    historyNext: 3,
    historyFrom: 2,
    historyKept: 2,
    state: { kind: 'done', turnId: 't', stopReason: 'end_turn' },
  });
});

test.each([
  [true, 'idle'],
  [false, 'running'],
] as const)(
  'a lease that is released with nothing left (%s) leaves a running session %s',
  async (isIdle, status) => {
    const { turns, inbox, read } = stores();
    const session = await created();
    await inbox.accept(session, message('m'), inboxLimits);
    const held = await leased(session.id);
    const done = await turns.commit(commitOf(held, { completed: message('m') }));
    if (done.status !== 'committed') throw new Error(done.status);
    expect(await turns.releaseLease(done.session, { dueAt: 5000, isIdle })).toBe('released');
    expect((await read(session.id)).status).toBe(status);
  },
);

test('only due sessions are read, and a session that moved is not postponed', async () => {
  const { sessions, turns, inbox, isSessionDue, read } = stores();
  const { id } = await created();
  await turns.releaseLease(await leased(id), { dueAt: 777, isIdle: false });
  expect([await isSessionDue(id, 776), await isSessionDue(id, 777)]).toEqual([false, true]);
  const seen = await read(id);
  await inbox.accept(seen, message('m'), inboxLimits);
  expect(await sessions.postpone(seen, 900)).toBe(false);
  expect((await read(id)).dueAt).toBe(17_000);
});

test('subscribers are the open connections, and a ticket is valid once', async () => {
  const { connections } = stores();
  const { id: sessionId } = await created();
  const id = crypto.randomUUID() as ConnectionId;
  const principal = { owner: deploymentOwner, scope: 'admin' as const, tokenHash: 'h' };
  await connections.put({ id, sessionId, principal, connectedAt: 1, since: -1 });
  expect(await connections.subscribers(sessionId)).toEqual([{ id }]);
  expect(await connections.get(id)).toEqual({ id, sessionId, principal, connectedAt: 1, since: -1 });
  expect(await connections.remove(id, { openedBefore: 1 })).toBeUndefined();
  expect(await connections.remove(id, { openedBefore: 2 })).toMatchObject({ id, sessionId });
  await connections.put({ id, sessionId, principal, connectedAt: 1, since: -1 });
  expect(await connections.remove(id)).toMatchObject({ id, sessionId });
  expect(await connections.remove(id)).toBeUndefined();
  expect(await connections.subscribers(sessionId)).toEqual([]);
  await connections.putTicket(`t-${id}`, { principal, expiresAt: 100 });
  expect(await connections.redeemTicket(`t-${id}`, 50)).toEqual(principal);
  expect(await connections.redeemTicket(`t-${id}`, 50)).toBeUndefined();
  await connections.putTicket(`late-${id}`, { principal, expiresAt: 100 });
  expect(await connections.redeemTicket(`late-${id}`, 100)).toBeUndefined();
});

test('a ticket whose first use was not heard of is redeemed by its repeat, and by no other', async () => {
  const unheard = makeConnectionStore(sentTwice(fixture.table));
  const principal = { owner: deploymentOwner, scope: 'admin' as const, tokenHash: 'h' };
  await unheard.putTicket('unheard', { principal, expiresAt: 100 });
  expect(await unheard.redeemTicket('unheard', 50)).toEqual(principal);
  expect(await unheard.redeemTicket('unheard', 50)).toBeUndefined();
});

test('a preview is opened only by its own grant', async () => {
  const { connections } = stores();
  const { id: sessionId } = await created();
  const principal = { owner: deploymentOwner, scope: 'admin' as const, tokenHash: 'h' };
  const grant = { principal, sessionId, port: 8000, expiresAt: 4_000_000_000_000 };
  await connections.putPreview(`g-${sessionId}`, grant);
  expect(await connections.preview(`g-${sessionId}`)).toEqual(grant);
  expect(await connections.preview(`h-${sessionId}`)).toBeUndefined();
});
