/**
 * A query may meet half of a transaction: the session says that a message came, and its inbox does not have it yet. No write that is
 * built on such a read leaves a message in a session that rests or has ended.
 */
import { expect, test } from 'vitest';
import type { TurnId } from '#shared/domain/ids.ts';
import type { Session } from '#shared/domain/session.ts';
import type { TurnCommit } from '#shared/ports/turn-store.ts';
import { farAway, inboxLimits, message, newSession, onTable } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();
const stores = () => onTable(fixture.table);

/** A session as it is read once its messages came; none of its readers below sees the last of them. */
const open = async (...ids: readonly string[]) => {
  const opened = stores();
  const { id } = await opened.create(newSession());
  for (const messageId of ids)
    await opened.inbox.accept(await opened.read(id), message(messageId), inboxLimits);
  const hold = async (): Promise<Session> => {
    const held = await opened.turns.takeLease(id, { holder: 'h', at: 3000, until: 4000 });
    if (held === undefined) throw new Error('the lease was not taken');
    return held;
  };
  return { ...opened, id, hold, session: await opened.read(id) };
};

const idleAfter = (session: Session, change: Partial<TurnCommit> = {}): TurnCommit => ({
  ...{ session, version: 0, historyNext: 0, historyFrom: 0, historyKept: 0, at: 3000, dueAt: farAway },
  state: { kind: 'done', turnId: 't' as TurnId, stopReason: 'end_turn' },
  ...{ log: [], history: [], patch: { status: 'idle' }, release: false, wakes: false },
  ...change,
});

test('a session is not ended as read', async () => {
  const { sessions, session, id, read } = await open('seen late');
  const ending = { status: 'completed', at: 3000, dueAt: farAway, unlessMoved: true } as const;
  expect(await sessions.end(session, ending)).toBeUndefined();
  expect((await read(id)).status).toBe('running');
});

test('a holder that completes the other message keeps its lease, and the session runs', async () => {
  const { turns, id, hold, read } = await open('one', 'seen late');
  const held = await hold();
  const commit = idleAfter(held, { fence: held.lease.fence, completed: message('one'), release: true });
  expect(await turns.commit(commit)).toMatchObject({ status: 'kept' });
  expect(await read(id)).toMatchObject({ status: 'running', lease: { holder: 'h' } });
  expect((await turns.loadWork(id)).inbox.map(({ messageId }) => messageId)).toEqual(['seen late']);
});

test('a writer without the lease, as one that cancels, reads again', async () => {
  const { turns, session, id, read } = await open('one', 'seen late');
  const commit = idleAfter(session, { completed: message('one') });
  expect(await turns.commit(commit)).toEqual({ status: 'moved' });
  expect((await read(id)).status).toBe('running');
  const again = idleAfter(session, { completed: message('one'), patch: {}, wakes: true });
  expect(await turns.commit(again)).toMatchObject({ status: 'committed' });
});

test('a holder that finds nothing to do does not give its lease back', async () => {
  const { turns, id, hold, read } = await open('seen late');
  const held = await hold();
  expect(await turns.releaseLease(held, { dueAt: farAway, isIdle: true, restsAt: 3000 })).toBe('kept');
  expect(await read(id)).toMatchObject({ status: 'running', lease: { holder: 'h' } });
});
