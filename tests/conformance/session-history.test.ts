/** The conversation in the table: what counts of it, how it is written, and what a holder sees of its turn while it waits. */
import { describe, expect, test } from 'vitest';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { keys } from '#shared/adapters/aws/dynamo/table.ts';
import { makeTurnStore } from '#shared/adapters/aws/dynamo/turn-store.ts';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { CallId, ConnectionId, MessageId, SessionId } from '#shared/domain/ids.ts';
import { deploymentOwner } from '#shared/domain/principal.ts';
import type { Session } from '#shared/domain/session.ts';
import type { CommitResult, TurnCommit } from '#shared/ports/turn-store.ts';
import { atOnce, inboxLimits, commitOf as lastStep, message, note, onTable } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

const stores = () => onTable(fixture.table);
const compressing = () => makeTurnStore(fixture.table, { compressesHistory: true });

const leased = async (): Promise<Session> => {
  const { turns, create } = stores();
  const { id } = await create();
  const session = await turns.takeLease(id, { holder: 'a', at: 10, until: 1000 });
  if (session === undefined) throw new Error('the lease was not free');
  return session;
};

const commitOf = (session: Session, change: Partial<TurnCommit> = {}): TurnCommit =>
  lastStep(session, { log: [], ...change });

const said = (text: string): HistoryMessage => ({ role: 'user', messageId: text as MessageId, text });
const taken = (result: CommitResult): Session => {
  if (result.status !== 'committed') throw new Error(`the commit was ${result.status}`);
  return result.session;
};

describe('the effective history', () => {
  test('begins at the turn’s marker, and older messages are deleted', async () => {
    const { turns, item } = stores();
    const session = await leased();
    const history = ['a', 'b', 'c', 'd'].map(said);
    const now = taken(await turns.commit(commitOf(session, { history })));
    await turns.commit(commitOf(now, { version: 1, historyNext: 4, historyFrom: 3 }));
    const items = await Promise.all([2, 3].map((index) => item(keys.message(session.id, index))));
    expect(items.map((one) => one !== undefined)).toEqual([false, true]);
    const work = await turns.loadWork(session.id);
    expect(work.history).toEqual([said('d')]);
    expect(work.turn).toMatchObject({ version: 2, historyNext: 4, historyFrom: 3, historyKept: 3 });
    expect(await turns.history(session.id)).toEqual([said('d')]);
    expect((await turns.getWithTurn(session.id))?.turn).toEqual(work.turn);
  });

  test('is empty after a reset, and later messages count again', async () => {
    const { turns } = stores();
    const session = await leased();
    const first = taken(await turns.commit(commitOf(session, { history: [said('a'), said('b')] })));
    const all = { version: 1, historyNext: 2, historyFrom: 2 };
    const second = taken(await turns.commit(commitOf(first, all)));
    expect(await turns.history(session.id)).toEqual([]);
    await turns.commit(
      commitOf(second, { version: 2, historyNext: 2, historyFrom: 2, historyKept: 2, history: [said('c')] }),
    );
    expect(await turns.history(session.id)).toEqual([said('c')]);
    expect((await turns.loadWork(session.id)).history).toEqual([said('c')]);
  });

  test('longer than one write can delete is reset all the same, and deleted by later writes', async () => {
    const { turns, item } = stores();
    let session = await leased();
    const messages = Array.from({ length: 120 }, (_, index) => said(String(index)));
    for (const [version, from] of [0, 40, 80].entries())
      session = taken(
        await turns.commit(
          commitOf(session, { version, historyNext: from, history: messages.slice(from, from + 40) }),
        ),
      );
    expect(await turns.history(session.id)).toEqual(messages);
    const all = { version: 3, historyNext: 120, historyFrom: 120 };
    session = taken(await turns.commit(commitOf(session, all)));
    expect(await turns.history(session.id)).toEqual([]);
    const { history, turn } = await turns.loadWork(session.id);
    expect([history, turn.historyKept]).toEqual([[], 98]);
    expect(await item(keys.message(session.id, 119))).toBeDefined();
    await turns.commit(commitOf(session, { ...all, version: 4, historyKept: 98 }));
    expect((await turns.loadWork(session.id)).turn.historyKept).toBe(120);
    const left = await Promise.all(messages.map((_, index) => item(keys.message(session.id, index))));
    expect(left.filter((one) => one !== undefined)).toEqual([]);
  });

  test('is all of a session without a reset, and nothing in an empty one', async () => {
    const { turns, create } = stores();
    const { id } = await create();
    expect(await turns.history(id)).toEqual([]);
    expect(await turns.history('nobody' as SessionId)).toEqual([]);
  });
});

describe('a compressed conversation', () => {
  const answer: HistoryMessage = {
    role: 'assistant',
    messageId: 'x' as MessageId,
    text: 'é'.repeat(20_000),
    calls: [{ callId: 'c' as CallId, name: 'list_files', args: { path: 'a' } }],
    providerState: { thinking: 'signed' },
  };
  const result: HistoryMessage = {
    role: 'tool',
    callId: 'c' as CallId,
    name: 'list_files',
    text: Array.from({ length: 5000 }, (_, index) => `file-${index}`).join('\n'),
    outcome: 'completed',
  };

  test('is read as it was written, whatever the reader’s setting', async () => {
    const session = await leased();
    const history = [said('short'), answer, result];
    await compressing().commit(commitOf(session, { history }));
    for (const turns of [compressing(), stores().turns]) {
      expect(await turns.history(session.id)).toEqual(history);
      expect((await turns.loadWork(session.id)).history).toEqual(history);
    }
  });

  test('is smaller, and messages that do not shrink stay unchanged', async () => {
    const { item } = stores();
    const session = await leased();
    await compressing().commit(commitOf(session, { history: [said('short'), answer] }));
    const short = await item(keys.message(session.id, 0));
    expect(short).toEqual({ ...keys.message(session.id, 0), message: JSON.stringify(said('short')) });
    const packed = (await item(keys.message(session.id, 1)))?.['packed'];
    expect(packed).toBeInstanceOf(Uint8Array);
    expect((packed as Uint8Array).length).toBeLessThan(1000);
  });

  test('may begin in the middle of an uncompressed one', async () => {
    const { turns } = stores();
    const session = await leased();
    const now = taken(await turns.commit(commitOf(session, { history: [answer] })));
    await compressing().commit(commitOf(now, { version: 1, historyNext: 1, history: [result] }));
    expect(await turns.history(session.id)).toEqual([answer, result]);
  });
});

describe('a read of the version', () => {
  test('returns the version of the turn and its subscribers, and no data of another session', async () => {
    const { turns, inbox } = stores();
    const connections = makeConnectionStore(fixture.table);
    const [session, other] = [await leased(), await leased()];
    expect(await turns.readVersion(session.id)).toEqual({ version: 0, subscribers: [] });
    const principal = { owner: deploymentOwner, scope: 'admin' as const, tokenHash: 'h' };
    const join = async (sessionId: SessionId): Promise<ConnectionId> => {
      const id = crypto.randomUUID() as ConnectionId;
      await connections.put({ id, sessionId, principal, connectedAt: 1 });
      return id;
    };
    const ids = [await join(session.id), await join(session.id)];
    await join(other.id);
    await inbox.accept(session, message('m'), inboxLimits);
    await turns.commit(commitOf(session, { history: [said('a')], log: [note('one')] }));
    const seen = await turns.readVersion(session.id);
    expect([seen.version, seen.subscribers.map((subscriber) => subscriber.id).sort()]).toEqual([
      1,
      ids.sort(),
    ]);
    expect(await turns.readVersion('nobody' as SessionId)).toEqual({ version: 0, subscribers: [] });
  });

  test('sees a decision that was made without the lease', async () => {
    const { turns } = stores();
    const session = await leased();
    const { fence: _, ...unleased } = commitOf(session);
    await turns.commit(unleased);
    expect((await turns.readVersion(session.id)).version).toBe(1);
  });
});

describe('a late commit', () => {
  test('is refused as moved, with or without a lease, and writes nothing', async () => {
    const { turns, read } = stores();
    const session = await leased();
    await turns.commit(commitOf(session, { log: [note('first')] }));
    const before = await read(session.id);
    const { fence: _, ...unleased } = commitOf(before, { log: [note('late')], history: [said('late')] });
    expect(await turns.commit(commitOf(before, { log: [note('late')] }))).toEqual({ status: 'moved' });
    expect(await turns.commit(unleased)).toEqual({ status: 'moved' });
    expect(await read(session.id)).toEqual(before);
    expect(await turns.history(session.id)).toEqual([]);
  });

  test('is stale when the lease is lost or the session has ended, whatever the state of the turn', async () => {
    const { sessions, turns } = stores();
    const session = await leased();
    const next = await turns.takeLease(session.id, { holder: 'b', at: 2000, until: 3000 });
    expect(await turns.commit(commitOf(session))).toEqual({ status: 'stale' });
    await sessions.end(next as Session, { status: 'completed', at: 50, dueAt: 90_000 });
    const { fence: _, ...unleased } = commitOf(next as Session);
    expect(await turns.commit(unleased)).toEqual({ status: 'stale' });
  });

  test('T15: of twenty writers without a lease one moves the turn, and the others are refused', async () => {
    const { turns, eventLog } = stores();
    const session = await leased();
    const { fence: _, ...unleased } = commitOf(session, { log: [note('one')] });
    const results = await atOnce(20, () => turns.commit(unleased));
    const statuses = results.map(({ status }) => status).sort();
    expect(statuses).toEqual(['committed', ...Array.from({ length: 19 }, () => 'moved')]);
    const { events } = await eventLog.read(session.id, { since: -1, eventsMax: 10 });
    expect(events).toHaveLength(1);
  });
});
