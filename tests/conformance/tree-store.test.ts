/** The agents and the money of a tree of sessions against a real DynamoDB engine. */
import { DeleteCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { keys } from '#shared/adapters/aws/dynamo/table.ts';
import { transact } from '#shared/adapters/aws/dynamo/transaction.ts';
import { growTree, makeTreeStore } from '#shared/adapters/aws/dynamo/trees.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import type { Session } from '#shared/domain/session.ts';
import type { MoneyAnswer, ReservationRequest, Tree } from '#shared/domain/tree-budget.ts';
import type { TurnCommit } from '#shared/ports/turn-store.ts';
import { atOnce, newSession, note, onTable, tally, workspaceOf } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

const stores = () => ({ ...onTable(fixture.table), trees: makeTreeStore(fixture.table) });
const newId = (): SessionId => crypto.randomUUID() as SessionId;

const grow = async (root: SessionId, agentsMax: number, spentUsd = 0): Promise<boolean> => {
  const action = growTree(fixture.table.name, { root, spentUsd, agentsMax });
  const command = new TransactWriteCommand({ TransactItems: [action] });
  return (await transact(fixture.table, command)) === 'done';
};

const newTree = async (spentUsd = 0): Promise<SessionId> => {
  const root = newId();
  await grow(root, 50, spentUsd);
  return root;
};

const read = async (root: SessionId): Promise<Tree> => {
  const tree = await stores().trees.read(root);
  if (tree === undefined) throw new Error(`the tree of ${root} is not in the table`);
  return tree;
};

/** `granted`, or why not. */
const kindOf = (answer: MoneyAnswer): string => (typeof answer === 'string' ? answer : 'granted');

const options = (change: Partial<ReservationRequest> = {}): ReservationRequest => ({
  session: newId(),
  fence: 1,
  usd: 1,
  usdMin: 1,
  usdMax: 10,
  at: 1000,
  until: 5000,
  ...change,
});

describe('a tree', () => {
  test('does not exist without children', async () => {
    const { trees } = stores();
    expect(await trees.read(newId())).toBeUndefined();
    expect(await trees.reserve(newId(), options())).toBe('spent');
    await trees.release(newId(), { ...options(), unsettledUsd: 0 });
  });

  test('begins with its first child: two agents, and its root’s cost so far', async () => {
    const root = newId();
    expect(await grow(root, 50, 0.25)).toBe(true);
    expect(await grow(root, 50, 99)).toBe(true);
    expect(await read(root)).toEqual({ agents: 3, spentUsd: 0.25, reserved: {}, slices: {}, version: 2 });
  });

  test('never exceeds its limit of agents, however many are created concurrently', async () => {
    const root = newId();
    expect(tally(await atOnce(20, () => grow(root, 5)))).toEqual({ true: 4, false: 16 });
    expect(await read(root)).toMatchObject({ agents: 5, version: 4 });
  });

  test('with a limit of one agent has no child', async () => {
    expect(await grow(newId(), 1)).toBe(false);
  });

  test('is not read by a turn', async () => {
    const { turns, create } = stores();
    const { id } = await create();
    await grow(id, 50);
    expect(await turns.loadWork(id)).toMatchObject({
      inbox: [],
      history: [],
      callers: [],
      subscribers: [],
    });
    expect(await turns.readVersion(id)).toEqual({ version: 0, subscribers: [] });
  });

  test('is deleted with its root', async () => {
    const { remove, create, trees } = stores();
    const { id } = await create();
    await grow(id, 50);
    await remove(id);
    expect(await trees.read(id)).toBeUndefined();
  });
});

describe('money', () => {
  test('is reserved for as many of twenty concurrent calls as it covers', async () => {
    const root = await newTree(2);
    const { trees } = stores();
    const answers = await atOnce(20, () => trees.reserve(root, options({ usd: 2.5 })));
    expect(tally(answers.map(kindOf))).toEqual({ granted: 3, busy: 17 });
    const { reserved, version } = await read(root);
    expect(Object.values(reserved)).toEqual(Array(3).fill({ usd: 2.5, fence: 1, until: 5000 }));
    expect(version).toBe(4);
  });

  test('is reserved for one of twenty if each may cost more than there is: as much as there is', async () => {
    const root = await newTree();
    const answers = await atOnce(20, () => stores().trees.reserve(root, options({ usd: 100 })));
    expect(Object.values((await read(root)).reserved)).toMatchObject([{ usd: 10 }]);
    expect(tally(answers.map(kindOf))).toEqual({ granted: 1, busy: 19 });
  });

  test('is not reserved where it is spent', async () => {
    const root = await newTree(10);
    expect(await stores().trees.reserve(root, options())).toBe('spent');
    expect(await read(root)).toEqual({ agents: 2, spentUsd: 10, reserved: {}, slices: {}, version: 1 });
  });

  test('reserved by a dead function stays counted, and its session reserves of the rest (TM7)', async () => {
    const root = await newTree();
    const { trees } = stores();
    const dead = options({ usd: 6 });
    await trees.reserve(root, dead);
    expect(await trees.reserve(root, { ...dead, fence: 2, usd: 3 })).toEqual({ grantedUsd: 3 });
    expect(await read(root)).toMatchObject({
      ...{ spentUsd: 0, unsettledUsd: 6 },
      reserved: { [dead.session]: { usd: 3, fence: 2, until: 5000 } },
    });
  });

  test('is waited for until its reservation has expired, and then stays counted (TM3, TM7)', async () => {
    const root = await newTree();
    const { trees } = stores();
    await trees.reserve(root, options({ usd: 6 }));
    const next = options({ usd: 6, at: 4999, until: 9000 });
    expect(await trees.reserve(root, next)).toBe('busy');
    expect(await trees.reserve(root, { ...next, at: 5000 })).toEqual({ grantedUsd: 4 });
    const { reserved, unsettledUsd } = await read(root);
    expect([Object.keys(reserved), unsettledUsd]).toEqual([[next.session], 6]);
  });

  test('is available to others after a release', async () => {
    const root = await newTree();
    const { trees } = stores();
    const own = { ...options({ usd: 9 }), unsettledUsd: 0 };
    await trees.reserve(root, own);
    await trees.release(root, own);
    expect(await read(root)).toEqual({
      ...{ agents: 2, spentUsd: 0, unsettledUsd: 0, reserved: {} },
      ...{ slices: {}, version: 3 },
    });
    await trees.release(root, own);
    expect(await trees.reserve(root, options({ usd: 9 }))).toEqual({ grantedUsd: 9 });
  });

  test('of a call that may be charged for stays counted, once (TM7)', async () => {
    const root = await newTree();
    const { trees } = stores();
    const own = { ...options({ usd: 9 }), unsettledUsd: 9 };
    await trees.reserve(root, own);
    await atOnce(5, () => trees.release(root, own));
    expect(await read(root)).toMatchObject({ spentUsd: 0, unsettledUsd: 9, reserved: {} });
    expect(await trees.reserve(root, options({ usd: 9 }))).toEqual({ grantedUsd: 1 });
  });

  test('is reserved once for a call whose request is sent again', async () => {
    const root = await newTree();
    const { trees } = stores();
    const own = options({ usd: 4, call: 'first' });
    expect(await atOnce(3, () => trees.reserve(root, own))).toEqual(Array(3).fill({ grantedUsd: 4 }));
    expect(await read(root)).toMatchObject({ unsettledUsd: 0, reserved: { [own.session]: { usd: 4 } } });
    expect(await trees.reserve(root, { ...own, call: 'second' })).toEqual({ grantedUsd: 4 });
    expect(await read(root)).toMatchObject({ unsettledUsd: 4, reserved: { [own.session]: { usd: 4 } } });
  });

  test('is neither released nor reserved by a holder that lost its session', async () => {
    const root = await newTree();
    const { trees } = stores();
    const own = options({ fence: 2 });
    await trees.reserve(root, own);
    await trees.release(root, { ...own, fence: 1, unsettledUsd: 1 });
    expect(await trees.reserve(root, { ...own, fence: 1, usd: 3 })).toBe('busy');
    expect(await read(root)).toMatchObject({ reserved: { [own.session]: { usd: 1, fence: 2 } } });
  });
});

describe('a slice', () => {
  const sliced = async (usdMax: number) => {
    const root = await newTree();
    const child = newId();
    await stores().trees.addSlice(root, { session: child, usdMax });
    return { root, child, slices: [child], ...stores() };
  };

  test('is written once, however often it is given', async () => {
    const { root, child, trees } = await sliced(2);
    await trees.addSlice(root, { session: child, usdMax: 9 });
    expect((await read(root)).slices).toEqual({ [child]: { usdMax: 2, spentUsd: 0, unsettledUsd: 0 } });
  });

  test('is given to no tree that does not exist', async () => {
    const root = newId();
    await stores().trees.addSlice(root, { session: newId(), usdMax: 2 });
    expect(await stores().trees.read(root)).toBeUndefined();
  });

  test('pays for as many of twenty concurrent calls as it covers (TM8)', async () => {
    const { root, slices, trees } = await sliced(2);
    const answers = await atOnce(20, () => trees.reserve(root, options({ usd: 0.75, usdMin: 0.6, slices })));
    expect(tally(answers.map(kindOf))).toEqual({ granted: 2, busy: 18 });
  });

  test('has what its calls cost and may have cost, and pays for no more (TM8)', async () => {
    const { root, child, slices, trees, turns, create } = await sliced(2);
    const session = await create(newSession());
    await trees.reserve(root, options({ session: session.id, usd: 1.5, slices }));
    const commit = commitOf(session, { spends: { root, usd: 0.5, slices } });
    expect(await turns.commit(commit)).toMatchObject({ status: 'committed' });
    const lost = options({ usd: 0.25, usdMin: 0.25, slices });
    await trees.reserve(root, lost);
    await trees.release(root, { ...lost, unsettledUsd: 0.25 });
    const reservation = options({ usd: 0.5, slices });
    await trees.reserve(root, { ...reservation, usdMin: 0.5 });
    const usage = { inputTokens: 1, outputTokens: 1 };
    const spent = { usd: 0.25, unsettledUsd: 0.25, slices };
    await trees.spend(root, { ...spent, reservation: reservation.session, session: session.id, usage });
    expect(await read(root)).toMatchObject({
      ...{ spentUsd: 0.75, unsettledUsd: 0.5, reserved: {} },
      slices: { [child]: { usdMax: 2, spentUsd: 0.75, unsettledUsd: 0.5 } },
    });
    expect(await trees.reserve(root, options({ usd: 4, usdMin: 0.1, slices }))).toEqual({ grantedUsd: 0.75 });
  });

  test('is limited anew, and made for a branch that had none with what that has spent (TM6)', async () => {
    const { root, child, trees } = await sliced(2);
    await trees.limitSlice(root, { session: child, usdMax: 5 });
    const other = newId();
    const limited = { session: other, usdMax: 4, spentUsd: 3 };
    await atOnce(3, () => trees.limitSlice(root, limited));
    // The maker of its slice died before a session named it, and it was spent since.
    await trees.limitSlice(root, { ...limited, spentUsd: 3.25 });
    await trees.limitSlice(root, { ...limited, usdMax: 3.5 });
    await trees.limitSlice(newId(), limited);
    expect((await read(root)).slices).toEqual({
      [child]: { usdMax: 5, spentUsd: 0, unsettledUsd: 0 },
      [other]: { usdMax: 3.5, spentUsd: 3.25, unsettledUsd: 0 },
    });
    const asked = options({ usd: 2, usdMin: 0.25, slices: [other] });
    expect(await trees.reserve(root, asked)).toEqual({ grantedUsd: 0.25 });
  });

  test('counts tokens and tool calls, of a child that older versions gave none (TM8, TM9)', async () => {
    const { root, child, trees, turns, create } = await sliced(2);
    const inner = newId();
    await trees.addSlice(root, { session: inner, tokensMax: 100, toolCallsMax: 3 });
    const slices = [child, inner];
    const session = await create(newSession());
    const sums = { usd: 0, usdMin: 0, tokens: 60, tokensMin: 10, toolCalls: 5, slices };
    const own = options({ session: session.id, ...sums });
    expect(await trees.reserve(root, own)).toEqual({ grantedUsd: 0, tokens: 60, toolCalls: 3 });
    expect(await trees.reserve(root, options({ ...sums, toolCalls: 1 }))).toBe('busy');
    const spends = { root, usd: 0, slices, tokens: 20, toolCalls: 2 };
    expect(await turns.commit(commitOf(session, { spends }))).toMatchObject({ status: 'committed' });
    const lost = options(sums);
    expect(await trees.reserve(root, lost)).toEqual({ grantedUsd: 0, tokens: 60, toolCalls: 1 });
    await trees.release(root, { ...lost, unsettledUsd: 0, unsettledTokens: 60 });
    const brokered = options({ ...sums, toolCalls: undefined });
    expect(await trees.reserve(root, brokered)).toEqual({ grantedUsd: 0, tokens: 20 });
    const usage = { inputTokens: 8, outputTokens: 4 };
    const used = { tokens: 12, unsettledTokens: 8, slices };
    await trees.spend(root, {
      ...{ reservation: brokered.session, session: session.id, usd: 0, unsettledUsd: 0, usage },
      ...used,
    });
    expect((await read(root)).slices).toMatchObject({
      [child]: { usdMax: 2, spentUsd: 0, tokens: 32, unsettledTokens: 68, toolCalls: 2 },
      [inner]: { tokensMax: 100, tokens: 32, unsettledTokens: 68, toolCallsMax: 3, toolCalls: 2 },
    });
    expect(await trees.reserve(root, options(sums))).toBe('spent');
  });

  test('has as many calls of programs as it has left, however many come at once (TM9)', async () => {
    const { root, child, trees } = await sliced(2);
    const inner = newId();
    await trees.addSlice(root, { session: inner, toolCallsMax: 3 });
    const payers = { root, slices: [child, inner] };
    const uses = await atOnce(8, () => trees.useToolCall(payers, 0));
    expect(tally(uses)).toEqual({ counted: 3, spent: 5 });
    expect((await read(root)).slices).toMatchObject({ [child]: { toolCalls: 3 }, [inner]: { toolCalls: 3 } });
    expect(await trees.useToolCall({ root, slices: [child] }, 0)).toBe('counted');
    expect(await trees.useToolCall({ root, slices: [newId()] }, 0)).toBe('spent');
    expect(await trees.useToolCall({ root: newId(), slices: [child] }, 0)).toBe('spent');
  });

  test('lets a program wait while an answer on its way has reserved its calls (TM9)', async () => {
    const { root, trees } = await sliced(2);
    const session = newId();
    await trees.addSlice(root, { session, toolCallsMax: 1 });
    const slices = [session];
    const asked = options({ usd: 0, usdMin: 0, toolCalls: 5, slices });
    expect(await trees.reserve(root, asked)).toEqual({ grantedUsd: 0, toolCalls: 1 });
    expect(await trees.useToolCall({ root, slices }, 0)).toBe('busy');
    await trees.release(root, { ...asked, unsettledUsd: 0 });
    expect(await trees.useToolCall({ root, slices }, 0)).toBe('counted');
  });

  test('counts the calls of a program that carries a turn, beside a reservation of its session (TM9)', async () => {
    const { root, child, slices, trees, turns, create } = await sliced(2);
    const session = await create(newSession());
    const own = options({ session: session.id, usd: 0.5, usdMin: 0.5, slices });
    await trees.reserve(root, own);
    const spends = { root, usd: 0, slices, toolCalls: 2, isUnreserved: true as const };
    expect(await turns.commit(commitOf(session, { spends }))).toMatchObject({ status: 'committed' });
    expect(await read(root)).toMatchObject({
      reserved: { [session.id]: { usd: 0.5 } },
      slices: { [child]: { toolCalls: 2 } },
    });
  });

  test('that is not written pays for nothing, and a call without a price goes on', async () => {
    const root = await newTree();
    const { trees, turns, create } = stores();
    const slices = [newId()];
    expect(await trees.reserve(root, options({ slices }))).toBe('spent');
    const session = await create(newSession());
    const free = commitOf(session, { spends: { root, usd: 0, slices } });
    expect(await turns.commit(free)).toMatchObject({ status: 'committed' });
  });
});

const commitOf = (session: Session, change: Partial<TurnCommit> = {}): TurnCommit => ({
  session,
  version: 0,
  state: { kind: 'idle' },
  historyNext: 0,
  historyFrom: 0,
  historyKept: 0,
  at: 2000,
  log: [note('an answer')],
  history: [],
  release: false,
  wakes: false,
  dueAt: 3000,
  ...change,
});

describe('an answer', () => {
  const begun = async () => {
    const { create, trees } = stores();
    const root = await newTree(1);
    const session = await create(newSession());
    await trees.reserve(root, options({ session: session.id, usd: 3 }));
    return { root, session, ...stores() };
  };

  test('is written with its actual cost, which replaces the reservation', async () => {
    const { root, session, turns } = await begun();
    const commit = commitOf(session, { spends: { root, usd: 0.5 } });
    expect(await turns.commit(commit)).toMatchObject({ status: 'committed' });
    expect(await read(root)).toMatchObject({ spentUsd: 1.5, unsettledUsd: 0, reserved: {} });
  });

  test('is counted once for twenty commits (TM4)', async () => {
    const { root, session, turns } = await begun();
    const answers = await atOnce(20, () => turns.commit(commitOf(session, { spends: { root, usd: 0.5 } })));
    expect(tally(answers.map(({ status }) => status))).toEqual({ committed: 1, moved: 19 });
    expect(await read(root)).toMatchObject({ spentUsd: 1.5 });
  });

  test('is counted once by a commit whose log grew concurrently', async () => {
    const { root, session, eventLog, turns } = await begun();
    await eventLog.append(session.id, [note('meanwhile')], 1500);
    const result = await turns.commit(commitOf(session, { spends: { root, usd: 0.5 } }));
    expect(result).toMatchObject({ status: 'committed', session: { lastSeq: 1 } });
    expect(await read(root)).toMatchObject({ spentUsd: 1.5 });
  });

  test('that is refused spends nothing and keeps the reservation', async () => {
    const { root, session, turns } = await begun();
    const spends = { root, usd: 0.5 };
    expect(await turns.commit(commitOf(session, { fence: 7, spends }))).toEqual({ status: 'stale' });
    expect(await turns.commit(commitOf(session, { version: 3, spends }))).toEqual({ status: 'moved' });
    expect(await read(root)).toMatchObject({ spentUsd: 1, reserved: { [session.id]: { usd: 3 } } });
  });

  test('after the expiry of its reservation is counted all the same', async () => {
    const { root, session, turns, trees } = await begun();
    await trees.reserve(root, options({ at: 6000, until: 9000 }));
    await turns.commit(commitOf(session, { spends: { root, usd: 0.5 } }));
    const { spentUsd, reserved } = await read(root);
    expect([spentUsd, Object.keys(reserved).length]).toEqual([1.5, 1]);
  });

  test('is not written once its tree is deleted', async () => {
    const { root, session, turns, item } = await begun();
    const { name: TableName, client } = fixture.table;
    await client.send(new DeleteCommand({ TableName, Key: keys.tree(root) }));
    const commit = commitOf(session, { spends: { root, usd: 0.5 } });
    expect(await turns.commit(commit)).toEqual({ status: 'stale' });
    expect(await item(keys.turn(session.id))).toBeUndefined();
    expect(await item(keys.tree(root))).toBeUndefined();
  });
});

test('a commit tells a parent that was read before its first child that it has children (TM5)', async () => {
  const { create, sessions, turns } = stores();
  const parent = await create(newSession());
  const child = newSession({ tree: { root: parent.id, parent: parent.id } });
  const wanted = { workspace: workspaceOf(child), child: { parent, agentsMax: 5 } };
  expect(await sessions.create(child, wanted)).toBe('created');
  const result = await turns.commit(commitOf(parent));
  expect(result).toMatchObject({ status: 'committed', session: { hasChildren: true, lastSeq: 0 } });
  expect(await turns.commit(commitOf(await stores().read(parent.id), { version: 1 }))).toMatchObject({
    status: 'committed',
    session: { hasChildren: true, lastSeq: 1 },
  });
});

test('twenty sessions that call repeatedly spend at most their limit', async () => {
  const root = await newTree();
  const { trees, turns, create } = stores();
  const usdMax = 4;
  await atOnce(20, async () => {
    const session = await create(newSession());
    const own = { session: session.id, usdMax, usd: 1, usdMin: 0.25, until: 1e12 };
    let version = 0;
    for (let round = 0; round < 1000; round += 1) {
      const answer = await trees.reserve(root, options(own));
      if (answer === 'spent') return;
      if (typeof answer === 'object') {
        const spends = { root, usd: Math.min(0.75, answer.grantedUsd) };
        const commit = commitOf(session, { version, log: [], spends });
        expect((await turns.commit(commit)).status).toBe('committed');
        version += 1;
      } else await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
  const { spentUsd, reserved } = await read(root);
  expect(spentUsd).toBe(usdMax);
  expect(reserved).toEqual({});
});
