/** The time of sandboxes in the slices that pay for it, against a real DynamoDB engine (TM10). */
import { DeleteCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { keys } from '#shared/adapters/aws/dynamo/table.ts';
import { transact } from '#shared/adapters/aws/dynamo/transaction.ts';
import { growTree, makeTreeStore } from '#shared/adapters/aws/dynamo/trees.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { slotHolderOf } from '#shared/domain/slot-holder.ts';
import { atOnce, newSandbox, newSession, onTable, tally } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();
const stores = () => ({ ...onTable(fixture.table), trees: makeTreeStore(fixture.table) });
const newId = (): SessionId => crypto.randomUUID() as SessionId;

/** A tree with a slice of 60 s, and one inside it of 10 s. */
const open = async () => {
  const all = stores();
  const root = newId();
  const action = growTree(fixture.table.name, { root, spentUsd: 0, agentsMax: 50 });
  await transact(fixture.table, new TransactWriteCommand({ TransactItems: [action] }));
  const [outer, inner] = [newId(), newId()];
  await all.trees.addSlice(root, { session: outer, sandboxMsMax: 60_000 });
  await all.trees.addSlice(root, { session: inner, sandboxMsMax: 10_000 });
  const slicesNow = async () => (await all.trees.read(root))?.slices ?? {};
  /** By a session of the inner branch, unless other slices pay. */
  const start = async (at: number, slices: readonly SessionId[] = [outer, inner]) => {
    const session = await all.create();
    const slot = { holder: slotHolderOf(session), session: session.id };
    const sandbox = newSandbox({ requestedAt: at, slot });
    const claim = { known: {}, slotsMax: 100, payers: { root, slices } };
    const claimed = await all.workspaces.claimStart(session.workspace, sandbox, claim);
    return { claimed, id: session.workspace };
  };
  const stop = (id: Awaited<ReturnType<typeof start>>['id'], at: number) =>
    all.workspaces.markStopped(id, 1, { reason: 'exit code 0', at });
  return { ...all, root, outer, inner, slicesNow, start, stop };
};

describe('a sandbox of a branch with a slice of seconds', () => {
  test('counts from its claim, in each slice that pays', async () => {
    const { start, slicesNow, outer, inner, readWorkspace, root } = await open();
    const { claimed, id } = await start(1000);
    expect(claimed).toBe('claimed');
    const sandboxes = { [`${id}:1`]: 1000 };
    expect(await slicesNow()).toMatchObject({ [outer]: { sandboxes }, [inner]: { sandboxes } });
    expect((await readWorkspace(id)).sandbox?.meter).toEqual({
      ...{ root, slices: [outer, inner], since: 1000, restMs: 10_000 },
    });
  });

  test('is counted once, however often its stop is recorded', async () => {
    const { start, stop, slicesNow, outer, inner, readWorkspace } = await open();
    const { id } = await start(1000);
    const ended = await atOnce(10, () => stop(id, 5000));
    expect(ended.filter((one) => one !== undefined)).toHaveLength(1);
    expect(await slicesNow()).toMatchObject({
      [outer]: { sandboxMs: 4000, sandboxes: {} },
      [inner]: { sandboxMs: 4000, sandboxes: {} },
    });
    expect((await readWorkspace(id)).sandbox).toMatchObject({ state: 'stopped', stoppedAt: 5000 });
    expect((await readWorkspace(id)).sandbox).not.toHaveProperty('meter');
  });

  test('gives its slot back with the first phase of its stop, and counts on until the second', async () => {
    const { start, stop, slicesNow, inner, workspaces } = await open();
    const { id } = await start(1000);
    await workspaces.markStopping(id, 1, { reason: 'idle', at: 3000, dueAt: 9000 });
    expect((await slicesNow())[inner]).not.toHaveProperty('sandboxMs');
    await stop(id, 4000);
    expect((await slicesNow())[inner]).toMatchObject({ sandboxMs: 3000, sandboxes: {} });
  });

  test('is not started where a slice has nothing left, of stopped ones or of those that live', async () => {
    const { start, stop, outer } = await open();
    const { id } = await start(1000);
    expect((await start(10_999)).claimed).toBe('claimed');
    expect((await start(11_001)).claimed).toBe('spent');
    await stop(id, 11_001);
    expect((await start(11_001)).claimed).toBe('spent');
    expect((await start(11_001, [outer])).claimed).toBe('claimed');
  });

  test('counts nowhere where no slice bounds time, and is not started under one that is not written', async () => {
    const { start, slicesNow, trees, root, readWorkspace } = await open();
    const money = newId();
    await trees.addSlice(root, { session: money, usdMax: 1 });
    const { claimed, id } = await start(1000, [money]);
    expect(claimed).toBe('claimed');
    expect((await readWorkspace(id)).sandbox).not.toHaveProperty('meter');
    expect((await slicesNow())[money]).not.toHaveProperty('sandboxes');
    expect((await start(1000, [newId()])).claimed).toBe('spent');
  });

  test('stops where its tree is deleted meanwhile', async () => {
    const { start, stop, root } = await open();
    const { id } = await start(1000);
    await fixture.table.client.send(
      new DeleteCommand({ TableName: fixture.table.name, Key: keys.tree(root) }),
    );
    expect((await stop(id, 5000))?.sandbox?.state).toBe('stopped');
  });

  test('keeps its beginning while calls of models reserve', async () => {
    const { start, slicesNow, trees, inner, root } = await open();
    const { id } = await start(1000);
    const call = { session: newId(), fence: 1, usd: 0, usdMin: 0, usdMax: 1, at: 2000, until: 3000 };
    await trees.reserve(root, { ...call, slices: [inner], tokens: 5, tokensMin: 1, toolCalls: 1 });
    expect((await slicesNow())[inner]?.sandboxes).toEqual({ [`${id}:1`]: 1000 });
  });

  test('begins and ends among many at once', async () => {
    const { start, stop, slicesNow, inner } = await open();
    const started = await atOnce(10, () => start(1000));
    expect(tally(started.map(({ claimed }) => claimed))).toEqual({ claimed: 10 });
    await Promise.all(started.map(({ id }) => stop(id, 1500)));
    expect((await slicesNow())[inner]).toMatchObject({ sandboxMs: 5000, sandboxes: {} });
  });

  test('is due for a look soon after it is ready', async () => {
    const { start, workspaces } = await open();
    const { id } = await start(1000);
    await workspaces.markReady(id, 1, { at: 2000, lookMs: 10_000 });
    const isDue = async (now: number) => (await workspaces.due(now, 1000)).some((due) => due.id === id);
    expect([await isDue(11_999), await isDue(12_000)]).toEqual([false, true]);
  });
});

test('an agent without slices has no meter', async () => {
  const { workspaces, create, readWorkspace } = stores();
  const { workspace } = await create(newSession());
  await workspaces.claimStart(workspace, newSandbox());
  expect((await readWorkspace(workspace)).sandbox).not.toHaveProperty('meter');
});
