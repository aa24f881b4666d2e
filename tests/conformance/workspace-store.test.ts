/** The sandbox of a workspace against a real DynamoDB engine: each step is taken by one caller, of this generation only. */
import { describe, expect, test } from 'vitest';
import type { SessionId, WorkspaceId } from '#shared/domain/ids.ts';
import { poolEntryId } from '#shared/domain/pool.ts';
import type { SandboxRecord, Workspace } from '#shared/domain/sandbox.ts';
import { atOnce, farAway, newSandbox, onTable, tally } from './session-fixture.ts';
import { openFileTable, sentTwice } from './table-fixture.ts';

const fixture = openFileTable();

const stores = () => onTable(fixture.table);
const address = 'http://127.0.0.1:1';
const stop = (at: number, reason = 'idle') => ({ reason, at, dueAt: at + 500 });

const made = (change: Partial<Workspace> = {}) => stores().makeWorkspace(change);
const inState = (state: SandboxRecord['state'], change: Partial<Workspace> = {}) =>
  stores().workspaceIn(state, change);

describe('a workspace', () => {
  test('is created once and read back whole', async () => {
    const { workspaces } = stores();
    const users = [crypto.randomUUID() as SessionId, crypto.randomUUID() as SessionId].sort();
    const workspace = await made({ users });
    await workspaces.create({ ...workspace, createdAt: 2 });
    expect(await workspaces.get(workspace.id)).toEqual(workspace);
    expect(await workspaces.get('none' as WorkspaceId)).toBeUndefined();
  });

  test('returns its remaining users when one leaves', async () => {
    const { workspaces } = stores();
    const users = [crypto.randomUUID() as SessionId, crypto.randomUUID() as SessionId].sort();
    const { id } = await made({ users });
    expect((await workspaces.leave(id, users[0] as SessionId))?.users).toEqual([users[1]]);
    expect((await workspaces.leave(id, users[1] as SessionId))?.users).toEqual([]);
    expect((await workspaces.leave(id, users[1] as SessionId))?.users).toEqual([]);
    expect(await workspaces.leave('none' as WorkspaceId, users[0] as SessionId)).toBeUndefined();
    expect(await workspaces.get('none' as WorkspaceId)).toBeUndefined();
  });

  test('is not deleted while it has a user', async () => {
    const { workspaces } = stores();
    const { id, users } = await made();
    expect(await workspaces.remove(id, 7000)).toBe(false);
    await workspaces.leave(id, users[0] as SessionId);
    expect(await workspaces.remove(id, 7000)).toBe(true);
    expect(await workspaces.get(id)).toBeUndefined();
  });

  test.each([
    ['starting', false],
    ['ready', false],
    ['stopping', false],
    ['stopped', true],
  ] as const)('without users, whose sandbox is %s, is deleted: %s', async (state, isDeleted) => {
    const { workspaces } = stores();
    const { id } = await inState(state, { users: [] });
    expect(await workspaces.remove(id, 7000)).toBe(isDeleted);
    expect((await workspaces.get(id)) === undefined).toBe(isDeleted);
  });
});

describe('a start', () => {
  test('is claimed by one of twenty', async () => {
    const { workspaces, readWorkspace, isWorkspaceDue } = stores();
    const workspace = await made();
    const sandbox = newSandbox();
    const claims = await atOnce(20, () => workspaces.claimStart(workspace.id, sandbox));
    expect(tally(claims)).toEqual({ claimed: 1, lost: 19 });
    expect(await readWorkspace(workspace.id)).toEqual({ ...workspace, sandbox });
    expect(await isWorkspaceDue(workspace.id, 184_999)).toBe(false);
    expect(await isWorkspaceDue(workspace.id, 185_000)).toBe(true);
  });

  test('of the next generation needs a stopped one, and inherits nothing from it', async () => {
    const { workspaces, readWorkspace } = stores();
    const { id } = await inState('ready');
    const next = newSandbox({ generation: 2, requestedAt: 9000, lost: 'it stopped' });
    await workspaces.leasePort(id, 1, 8000);
    await workspaces.recordLogsSeen(id, 1, 7);
    expect(await workspaces.claimStart(id, next)).toBe('lost');
    await workspaces.markStopping(id, 1, stop(7000));
    expect(await workspaces.claimStart(id, next)).toBe('lost');
    await workspaces.markStopped(id, 1, { reason: 'exit code 0', at: 8000 });
    expect(await workspaces.claimStart(id, { ...next, generation: 3 })).toBe('lost');
    expect(await workspaces.claimStart(id, { ...next, generation: 1 })).toBe('lost');
    expect(await workspaces.claimStart(id, next)).toBe('claimed');
    expect((await readWorkspace(id)).sandbox).toEqual(next);
  });

  test('comes after an end that its sessions are to be told of, until they were or the next one starts', async () => {
    const { workspaces, readWorkspace, isWorkspaceDue } = stores();
    const { id, users } = await inState('ready');
    const end = { reason: 'exit code 0', at: 8000, tellAt: 38_000 };
    expect((await workspaces.markStopped(id, 1, end))?.sandbox?.untold).toEqual(users);
    await workspaces.recordTold(id, 2);
    expect((await readWorkspace(id)).sandbox?.untold).toEqual(users);
    expect([await isWorkspaceDue(id, 37_999), await isWorkspaceDue(id, 38_000)]).toEqual([false, true]);
    await workspaces.recordTold(id, 1);
    expect((await readWorkspace(id)).sandbox?.untold).toBeUndefined();
    expect(await isWorkspaceDue(id, 38_000)).toBe(false);
  });

  test.each([
    [undefined, 1, 'claimed'],
    [undefined, 3, 'lost'],
    [5_000_001, 5_000_001, 'claimed'],
    [5_000_001, 1, 'lost'],
    [5_000_001, 4_000_003, 'lost'],
    [1, 1, 'claimed'],
  ] as const)(
    'of a workspace whose first generation is %j, as generation %i, is %s: it may have been made again since it was read',
    async (firstGeneration, generation, becomes) => {
      const { workspaces } = stores();
      const { id } = await made(firstGeneration === undefined ? {} : { firstGeneration });
      expect(await workspaces.claimStart(id, newSandbox({ generation }))).toBe(becomes);
    },
  );

  test('of an unknown workspace is not claimed', async () => {
    const { workspaces } = stores();
    expect(await workspaces.claimStart('none' as WorkspaceId, newSandbox())).toBe('lost');
    expect(await workspaces.get('none' as WorkspaceId)).toBeUndefined();
  });

  test('of a workspace that its last session has left is not started again', async () => {
    const { workspaces } = stores();
    const { id, users } = await inState('stopped');
    for (const user of users) await workspaces.leave(id, user);
    expect(await workspaces.claimStart(id, newSandbox({ generation: 2 }))).toBe('lost');
  });

  test('is recorded: the task while it is not stopped, the address while it starts', async () => {
    const { workspaces, readWorkspace } = stores();
    const { id } = await inState('starting');
    expect(await workspaces.recordTask(id, 1, 'task-1')).toBe(true);
    expect(await workspaces.recordAddress(id, 1, { taskArn: 'another', address })).toBe(false);
    expect(await workspaces.recordAddress(id, 1, { taskArn: 'task-1', address })).toBe(true);
    expect((await readWorkspace(id)).sandbox).toEqual(newSandbox({ taskArn: 'task-1', address }));
    await workspaces.markReady(id, 1, { at: 6000 });
    expect(await workspaces.recordAddress(id, 1, { taskArn: 'task-1', address: 'http://late' })).toBe(false);
    await workspaces.markStopping(id, 1, stop(7000));
    expect(await workspaces.recordTask(id, 1, 'another')).toBe(false);
    expect(await workspaces.recordTask(id, 1, 'task-1')).toBe(true);
    await workspaces.markStopped(id, 1, { reason: 'gone', at: 8000 });
    expect(await workspaces.recordTask(id, 1, 'task-1')).toBe(false);
    expect((await readWorkspace(id)).sandbox).toMatchObject({ taskArn: 'task-1', address });
  });

  test('that runs is recorded with its task in one write, by the first caller that learns of it', async () => {
    const { workspaces, readWorkspace } = stores();
    const { id } = await inState('starting');
    expect(await workspaces.recordAddress(id, 1, { taskArn: 'task-1', address })).toBe(true);
    expect(await workspaces.recordTask(id, 1, 'another')).toBe(false);
    expect((await readWorkspace(id)).sandbox).toEqual(newSandbox({ taskArn: 'task-1', address }));
  });
});

describe('a warm sandbox', () => {
  const warmEntry = () => inState('ready', { id: `pool-${crypto.randomUUID()}` as WorkspaceId, users: [] });
  const claimOf = (entry: Workspace, generation = 1) => ({
    generation,
    at: 9000,
    sandbox: newSandbox({
      generation,
      requestedAt: 9000,
      source: 'pool',
      warm: { entry: entry.id, generation: 1 },
      taskArn: 'task-1',
      address,
    }),
  });

  test('L12: goes to one of twenty workspaces, and its pool entry is empty', async () => {
    const { workspaces, readWorkspace, isWorkspaceDue, liveIds } = stores();
    const entry = await warmEntry();
    const wanting = await atOnce(20, () => made());
    const claims = await Promise.all(
      wanting.map(({ id }) => workspaces.claimWarm(id, entry, claimOf(entry))),
    );
    expect(tally(claims)).toEqual({ claimed: 1, lost: 19 });
    const winner = wanting[claims.indexOf('claimed')] ?? entry;
    expect(await readWorkspace(winner.id)).toEqual({ ...winner, sandbox: claimOf(entry).sandbox });
    expect((await readWorkspace(entry.id)).sandbox).toEqual({
      ...entry.sandbox,
      state: 'stopped',
      stoppedReason: 'a workspace claimed it',
    });
    expect(await workspaces.claimantOf({ workspaceId: entry.id, generation: 1 })).toEqual({
      workspaceId: winner.id,
      generation: 1,
    });
    const losers = wanting.filter(({ id }) => id !== winner.id);
    const after = await workspaces.getMany(losers.map(({ id }) => id));
    expect(after.every(({ sandbox }) => sandbox === undefined)).toBe(true);
    const live = await liveIds();
    expect([live.includes(winner.id), live.includes(entry.id)]).toEqual([true, false]);
    expect(await isWorkspaceDue(winner.id, 189_000)).toBe(true);
  });

  test('is claimed once by callers of one workspace', async () => {
    const { workspaces } = stores();
    const [entry, { id }] = [await warmEntry(), await made()];
    const claims = await atOnce(20, () => workspaces.claimWarm(id, entry, claimOf(entry)));
    expect(tally(claims)).toEqual({ claimed: 1, lost: 19 });
  });

  test('stays in its pool entry when the workspace has moved on', async () => {
    const { workspaces, readWorkspace } = stores();
    const [entry, { id }] = [await warmEntry(), await inState('starting')];
    expect(await workspaces.claimWarm(id, entry, claimOf(entry))).toBe('lost');
    expect(await readWorkspace(entry.id)).toEqual(entry);
    expect(await workspaces.claimantOf({ workspaceId: entry.id, generation: 1 })).toBeUndefined();
  });

  test('is not claimed in a pool entry that is being refilled', async () => {
    const { workspaces } = stores();
    const [entry, one, other] = [await warmEntry(), await made(), await made()];
    expect(await workspaces.claimWarm(one.id, entry, claimOf(entry))).toBe('claimed');
    expect(await workspaces.claimStart(entry.id, newSandbox({ generation: 2 }))).toBe('claimed');
    await workspaces.markReady(entry.id, 2, { at: 9500 });
    expect(await workspaces.claimWarm(other.id, entry, claimOf(entry))).toBe('lost');
    expect(await workspaces.claimantOf({ workspaceId: entry.id, generation: 2 })).toBeUndefined();
  });

  test('is not claimed from a pool entry that starts or stops', async () => {
    const { workspaces } = stores();
    const { id } = await made();
    for (const state of ['starting', 'stopping', 'stopped'] as const) {
      const entry = await inState(state, { users: [] });
      expect(await workspaces.claimWarm(id, entry, claimOf(entry))).toBe('lost');
    }
  });

  test('is the next generation of a workspace whose last one stopped', async () => {
    const { workspaces, readWorkspace } = stores();
    const [entry, { id }] = [await warmEntry(), await inState('stopped')];
    expect(await workspaces.claimWarm(id, entry, claimOf(entry, 2))).toBe('claimed');
    expect((await readWorkspace(id)).sandbox).toEqual(claimOf(entry, 2).sandbox);
  });
});

describe('a restore', () => {
  test('is claimed by one of twenty until the claim expires', async () => {
    const { workspaces } = stores();
    const { id } = await inState('starting');
    const claim = (at: number, until: number) => workspaces.claimRestore(id, 1, { at, until });
    expect((await atOnce(20, () => claim(6000, 6500))).filter((number) => number !== undefined)).toEqual([1]);
    expect(await claim(6499, 7000)).toBeUndefined();
    expect(await claim(6500, 7000)).toBe(2);
  });

  test('is claimed by the repeat of a request whose answer was lost, and by no other', async () => {
    const { id } = await inState('starting');
    const { workspaces } = onTable(sentTwice(fixture.table));
    expect(await workspaces.claimRestore(id, 1, { at: 6000, until: 6500 })).toBe(1);
    expect(await workspaces.claimRestore(id, 1, { at: 6000, until: 6500 })).toBeUndefined();
    expect(await workspaces.markReady(id, 1, { at: 6100, claim: 1 })).toBe(true);
    expect(await workspaces.markReady(id, 1, { at: 6100, claim: 1 })).toBe(false);
  });

  test('is renewed under the last claim alone, until it is released', async () => {
    const { workspaces } = stores();
    const { id } = await inState('starting');
    const renew = (claim: number, until: number) => workspaces.renewRestore(id, 1, { claim, until });
    await workspaces.claimRestore(id, 1, { at: 6000, until: 6500 });
    expect(await renew(1, 7000)).toBe(true);
    expect(await workspaces.claimRestore(id, 1, { at: 6999, until: 7400 })).toBeUndefined();
    expect(await workspaces.claimRestore(id, 1, { at: 7000, until: 7500 })).toBe(2);
    expect([await renew(1, 8000), await renew(2, 8000)]).toEqual([false, true]);
    await workspaces.unclaimRestore(id, 1, 2);
    expect(await renew(2, 9000)).toBe(false);
  });

  test('is released, and claimed again at once', async () => {
    const { workspaces, readWorkspace } = stores();
    const { id } = await inState('starting');
    expect(await workspaces.claimRestore(id, 1, { at: 6000, until: 6500 })).toBe(1);
    expect(await workspaces.claimRestore(id, 1, { at: 6001, until: 6501 })).toBeUndefined();
    await workspaces.unclaimRestore(id, 1, 1);
    expect(await workspaces.claimRestore(id, 1, { at: 6002, until: 6600 })).toBe(2);
    expect(await workspaces.markReady(id, 1, { at: 6100, claim: 2 })).toBe(true);
    const ready = newSandbox({ state: 'ready', readyAt: 6100, restores: 2 });
    expect((await readWorkspace(id)).sandbox).toEqual(ready);
  });

  test('under an earlier claim makes nothing ready, and releases no later claim', async () => {
    const { workspaces } = stores();
    const { id } = await inState('starting');
    await workspaces.claimRestore(id, 1, { at: 6000, until: 6500 });
    await workspaces.claimRestore(id, 1, { at: 6500, until: 7000 });
    expect(await workspaces.markReady(id, 1, { at: 6600, claim: 1 })).toBe(false);
    expect(await workspaces.markReady(id, 1, { at: 6600 })).toBe(false);
    await workspaces.unclaimRestore(id, 1, 1);
    expect(await workspaces.claimRestore(id, 1, { at: 6700, until: 7200 })).toBeUndefined();
    expect(await workspaces.markReady(id, 1, { at: 6800, claim: 2 })).toBe(true);
  });

  test.each(['ready', 'stopping', 'stopped'] as const)('is not claimed when it is %s', async (state) => {
    const { workspaces } = stores();
    const { id } = await inState(state);
    expect(await workspaces.claimRestore(id, 1, { at: 9000, until: 9500 })).toBeUndefined();
    const before = await workspaces.get(id);
    await workspaces.unclaimRestore(id, 1, 1);
    expect(await workspaces.get(id)).toEqual(before);
  });
});

test('L2: readiness is recorded by one of twenty, and checked again in an hour', async () => {
  const { workspaces, isWorkspaceDue } = stores();
  const { id } = await inState('starting');
  expect(tally(await atOnce(20, () => workspaces.markReady(id, 1, { at: 6000 })))).toEqual({
    true: 1,
    false: 19,
  });
  expect(await isWorkspaceDue(id, 3_605_999)).toBe(false);
  expect(await isWorkspaceDue(id, 3_606_000)).toBe(true);
});

describe('a stop', () => {
  test.each(['starting', 'ready'] as const)('of a sandbox that is %s marks it', async (state) => {
    const { workspaces, readWorkspace, isWorkspaceDue } = stores();
    const before = await inState(state);
    const marked = await workspaces.markStopping(before.id, 1, stop(7000));
    expect(marked).toEqual({
      ...before,
      sandbox: { ...before.sandbox, state: 'stopping', stopRequestedAt: 7000, stoppedReason: 'idle' },
    });
    expect(await readWorkspace(before.id)).toEqual(marked);
    expect(await isWorkspaceDue(before.id, 7499)).toBe(false);
    expect(await isWorkspaceDue(before.id, 7500)).toBe(true);
  });

  test('that is repeated keeps its first reason and time, and moves the next sweep', async () => {
    const { workspaces, isWorkspaceDue, liveIds } = stores();
    const { id } = await inState('ready');
    const first = await workspaces.markStopping(id, 1, stop(7000, 'idle'));
    expect(await workspaces.markStopping(id, 1, stop(9000, 'the session ended'))).toEqual(first);
    expect(await isWorkspaceDue(id, 9499)).toBe(false);
    expect(await isWorkspaceDue(id, 9500)).toBe(true);
    expect(await liveIds()).toContain(id);
  });

  test('is completed once, keeps its reason, and leaves nothing due', async () => {
    const { workspaces, readWorkspace, isWorkspaceDue, liveIds } = stores();
    const before = await inState('ready');
    const { id } = before;
    await workspaces.leasePort(id, 1, 8000);
    await workspaces.markStopping(id, 1, stop(7000));
    const ended = await atOnce(20, () => workspaces.markStopped(id, 1, { reason: 'exit code 0', at: 8000 }));
    expect(tally(ended.map((one) => one !== undefined))).toEqual({ true: 1, false: 19 });
    const after = {
      ...before,
      sandbox: {
        ...before.sandbox,
        state: 'stopped',
        stopRequestedAt: 7000,
        stoppedAt: 8000,
        stoppedReason: 'idle',
      },
    };
    expect(ended.find((one) => one !== undefined)).toEqual(after);
    expect(await readWorkspace(id)).toEqual(after);
    expect(await isWorkspaceDue(id, farAway)).toBe(false);
    expect(await liveIds()).not.toContain(id);
    expect(await workspaces.markStopping(id, 1, stop(9000))).toBeUndefined();
  });

  test('of one that still starts is refused when it is ready, or during a restore', async () => {
    const { workspaces, readWorkspace } = stores();
    const only = { only: 'starting' } as const;
    const ready = await inState('ready');
    expect(await workspaces.markStopping(ready.id, 1, { ...stop(7000), ...only })).toBeUndefined();
    expect(await readWorkspace(ready.id)).toEqual(ready);
    const { id } = await inState('starting');
    await workspaces.claimRestore(id, 1, { at: 6000, until: 7001 });
    expect(await workspaces.markStopping(id, 1, { ...stop(7000), ...only })).toBeUndefined();
    expect((await workspaces.markStopping(id, 1, { ...stop(7001), ...only }))?.sandbox?.state).toBe(
      'stopping',
    );
    expect(await workspaces.markStopping(id, 1, { ...stop(7002), ...only })).toBeUndefined();
  });

  test('is saved for the last time by the repeat of a request whose answer was lost, and by no other', async () => {
    const { id } = await inState('stopping');
    const { workspaces } = onTable(sentTwice(fixture.table));
    const claim = () => workspaces.claimLastSave(id, 1, { at: 8000, until: 8500 });
    expect([await claim(), await claim()]).toEqual([true, false]);
  });

  test('is saved for the last time by one of twenty, until the claim expires, and not once the stop is recorded', async () => {
    const { workspaces, readWorkspace } = stores();
    const { id } = await inState('stopping');
    const claim = (at: number, until: number) => workspaces.claimLastSave(id, 1, { at, until });
    expect(tally(await atOnce(20, () => claim(8000, 8500)))).toEqual({ true: 1, false: 19 });
    expect([await claim(8499, 9000), await claim(8500, 9000)]).toEqual([false, true]);
    await workspaces.unclaimLastSave(id, 1, 8500);
    expect(await claim(8501, 9001)).toBe(false);
    await workspaces.unclaimLastSave(id, 1, 9000);
    expect(await claim(8501, 9001)).toBe(true);
    await workspaces.recordStopRequest(id, 1, { at: 8600, isUnsaved: true });
    await workspaces.recordStopRequest(id, 1, { at: 8700 });
    const { sandbox } = await readWorkspace(id);
    expect(sandbox).toMatchObject({ taskStopRequestedAt: 8600, isUnsaved: true });
    expect(sandbox?.savingUntil).toBeUndefined();
    await workspaces.withdrawStopRequest(id, 1, 8700);
    expect(await claim(9999, 10_000)).toBe(false);
    await workspaces.withdrawStopRequest(id, 1, 8600);
    const { taskStopRequestedAt: _, isUnsaved: __, ...before } = sandbox ?? {};
    expect((await readWorkspace(id)).sandbox).toEqual(before);
    expect(await claim(9999, 10_000)).toBe(true);
  });

  test('that was not requested reports ECS’s reason', async () => {
    const { workspaces } = stores();
    const before = await inState('ready');
    expect(await workspaces.markStopped(before.id, 1, { reason: 'OutOfMemory', at: 8000 })).toEqual({
      ...before,
      sandbox: { ...before.sandbox, state: 'stopped', stoppedAt: 8000, stoppedReason: 'OutOfMemory' },
    });
  });

  test('of one without a task is refused when it has one, or had', async () => {
    const { workspaces, readWorkspace } = stores();
    const end = { reason: 'the start was refused', at: 8000, only: 'unplaced' } as const;
    for (const state of ['ready', 'stopping'] as const) {
      const before = await inState(state);
      expect(await workspaces.markStopped(before.id, 1, end)).toBeUndefined();
      expect(await readWorkspace(before.id)).toEqual(before);
    }
    const placed = await inState('starting');
    await workspaces.recordTask(placed.id, 1, 'task-1');
    expect(await workspaces.markStopped(placed.id, 1, end)).toBeUndefined();
    const { id } = await inState('starting');
    expect((await workspaces.markStopped(id, 1, end))?.sandbox?.state).toBe('stopped');
  });

  test('of a workspace without a sandbox does nothing', async () => {
    const { workspaces, isWorkspaceDue } = stores();
    const { id } = await made();
    expect(await workspaces.markStopping(id, 1, stop(7000))).toBeUndefined();
    expect(await workspaces.markStopped(id, 1, { reason: 'x', at: 1 })).toBeUndefined();
    expect(await workspaces.markStopping('none' as WorkspaceId, 1, stop(7000))).toBeUndefined();
    expect(await isWorkspaceDue(id, farAway)).toBe(false);
  });
});

describe('the next sweep', () => {
  test('is moved while the sandbox is unchanged since it was read', async () => {
    const { workspaces, isWorkspaceDue } = stores();
    const ready = await inState('ready');
    expect(await workspaces.postpone(ready, 100)).toBe(true);
    expect([await isWorkspaceDue(ready.id, 99), await isWorkspaceDue(ready.id, 100)]).toEqual([false, true]);
    await workspaces.markStopping(ready.id, 1, stop(7000));
    expect(await workspaces.postpone(ready, farAway)).toBe(false);
    expect(await isWorkspaceDue(ready.id, 7500)).toBe(true);
  });

  test('stays where a lifetime put it that was given since the sandbox was read', async () => {
    const { workspaces, isWorkspaceDue } = stores();
    const ready = await inState('ready');
    await workspaces.setLifetime(ready.id, 1, { lifetimeMs: 60_000, dueAt: 100 });
    expect(await workspaces.postpone(ready, farAway)).toBe(false);
    const given = await workspaces.get(ready.id);
    expect([
      await isWorkspaceDue(ready.id, 100),
      given && (await workspaces.postpone(given, farAway)),
    ]).toEqual([true, true]);
  });

  test('is not scheduled for a sandbox that is stopped or never existed', async () => {
    const { workspaces, liveIds } = stores();
    const [none, stopped] = [await made(), await inState('stopped')];
    await workspaces.postpone(none, 100);
    await workspaces.postpone(stopped, 100);
    const live = await liveIds();
    expect([live.includes(none.id), live.includes(stopped.id)]).toEqual([false, false]);
  });
});

describe('the live workspaces', () => {
  test('are those with a sandbox that is not stopped', async () => {
    const { liveIds, isWorkspaceDue } = stores();
    const states = ['starting', 'ready', 'stopping', 'stopped'] as const;
    const made4 = await Promise.all(states.map((state) => inState(state)));
    const none = await made();
    const live = await liveIds();
    expect(made4.map(({ id }) => live.includes(id))).toEqual([true, true, true, false]);
    expect(live.includes(none.id)).toBe(false);
    expect(new Set(live).size).toBe(live.length);
    expect(await isWorkspaceDue(none.id, farAway)).toBe(false);
  });

  test('are listed over all pages', async () => {
    const { workspaces, liveIds } = stores();
    const padding = 'x'.repeat(300_000);
    const all = await atOnce(40, async () => {
      const { id } = await made();
      await workspaces.claimStart(id, newSandbox({ lost: padding }));
      return id;
    });
    const live = await liveIds();
    expect(all.filter((id) => !live.includes(id))).toEqual([]);
    expect(new Set(live).size).toBe(live.length);
    for (const id of all) await workspaces.markStopped(id, 1, { reason: 'over', at: 1 });
  });

  test('include every pool entry, each due in its time', async () => {
    const { liveIds, isWorkspaceDue } = stores();
    const entries = Array.from({ length: 20 }, (_, index) => poolEntryId(index));
    for (const id of entries) await inState('ready', { id, users: [] });
    const live = await liveIds();
    expect(entries.filter((id) => !live.includes(id))).toEqual([]);
    const due = await Promise.all(entries.map((id) => isWorkspaceDue(id, 3_606_000)));
    expect(tally(due)).toEqual({ true: 20 });
  });
});
