/** The money of model calls outside any turn against a real DynamoDB engine: a tree of its own, and one write for both records (BR2). */
import { expect, test } from 'vitest';
import { makeTreeStore } from '#shared/adapters/aws/dynamo/trees.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { totalsOf } from '#shared/domain/session.ts';
import type { TurnCommit } from '#shared/ports/turn-store.ts';
import { atOnce, newSession, note, onTable, tally } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();
const stores = () => ({ ...onTable(fixture.table), trees: makeTreeStore(fixture.table) });
const usage = { inputTokens: 10, outputTokens: 2 };
const reservation = 'session/call' as SessionId;
const request = { session: reservation, fence: 1, usd: 1, usdMin: 1, usdMax: 10, at: 1000, until: 5000 };

test('a session begins its tree once, with what it has cost', async () => {
  const { create, trees, read } = stores();
  const session = await create(newSession({ costUsd: 0.25 }));
  expect(tally(await atOnce(10, () => trees.begin(session)))).toEqual({ true: 1, false: 9 });
  expect(await trees.read(session.id)).toEqual({ agents: 1, spentUsd: 0.25, reserved: {}, version: 1 });
  expect(await read(session.id)).toMatchObject({ hasChildren: true });
});

test('one that has moved since it was read, or has ended, begins none', async () => {
  const { create, trees, eventLog } = stores();
  const moved = await create(newSession());
  await eventLog.append(moved.id, [note('meanwhile')], 1500);
  expect(await trees.begin(moved)).toBe(false);
  expect(await trees.begin(await create(newSession({ status: 'completed' })))).toBe(false);
  expect(await trees.read(moved.id)).toBeUndefined();
});

test('a call replaces its reservation and is added to its session, each call by itself', async () => {
  const { create, trees, read } = stores();
  const session = await create(newSession({ costUsd: 1, usage: { inputTokens: 1, outputTokens: 1 } }));
  await trees.begin(session);
  expect(await trees.reserve(session.id, request)).toEqual({ grantedUsd: request.usd });
  const spent = { reservation, session: session.id, usd: 0.5, usage, unsettledUsd: 0.25 };
  await atOnce(4, () => trees.spend(session.id, spent));
  expect(await trees.read(session.id)).toMatchObject({ spentUsd: 3, unsettledUsd: 1, reserved: {} });
  const after = await read(session.id);
  expect(after).toMatchObject({ costUsd: 1, brokeredUsd: 2 });
  expect(totalsOf(after)).toEqual({ costUsd: 3, usage: { inputTokens: 41, outputTokens: 9 } });
});

test('a call of a deleted session is recorded nowhere', async () => {
  const { create, trees, sessions, remove } = stores();
  const { id } = await create(newSession());
  await remove(id);
  await trees.spend(id, { reservation, session: id, usd: 1, usage, unsettledUsd: 0 });
  expect(await sessions.get(id)).toBeUndefined();
  expect(await trees.read(id)).toBeUndefined();
});

const commitOf = (change: Pick<TurnCommit, 'session' | 'patch'>): TurnCommit => ({
  ...{ version: 0, state: { kind: 'idle' }, historyNext: 0, historyFrom: 0, historyKept: 0 },
  ...{ at: 2000, log: [note('an answer')], history: [], release: false, wakes: false, dueAt: 3000 },
  ...change,
});

test('an answer that comes while a program begins the tree is counted in it (TM5)', async () => {
  const { create, trees, turns } = stores();
  const session = await create(newSession({ costUsd: 0.25 }));
  expect(await trees.begin(session)).toBe(true);
  const result = await turns.commit(commitOf({ session, patch: { costUsd: 1 } }));
  expect(result).toMatchObject({ status: 'committed', session: { hasChildren: true } });
  expect(await trees.read(session.id)).toMatchObject({ spentUsd: 1 });
});
