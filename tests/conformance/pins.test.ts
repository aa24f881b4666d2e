/** Snapshots and pins, against a real DynamoDB engine: made with their holder, ended with it, known only when they settled. */
import { describe, expect, test } from 'vitest';
import { makeSnapshotStore } from '#shared/adapters/aws/dynamo/snapshots.ts';
import { keys } from '#shared/adapters/aws/dynamo/table.ts';
import type { Checkpoint } from '#shared/domain/checkpoint.ts';
import type { SnapshotId, WorkspaceId } from '#shared/domain/ids.ts';
import type { ReleasedPin } from '#shared/domain/pins.ts';
import type { Workspace } from '#shared/domain/sandbox.ts';
import {
  type FilesSource,
  ownedBy,
  type Snapshot,
  sourceOfSnapshot,
  sourceOfWorkspace,
} from '#shared/domain/snapshot.ts';
import { atOnce, newExecution, newSession, onTable, tally, workspaceOf } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

const stores = () => ({ ...onTable(fixture.table), snapshots: makeSnapshotStore(fixture.table) });

const made = 100_000;
const later = made + 60_000;

const checkpointOf = (id: string, packs: readonly string[] = [id], generation = 1): Checkpoint => ({
  ...{ id, sha256: 'ab', savedAt: 6500, generation, files: 2, bytes: 30 },
  packs,
});

/** A workspace with this checkpoint, and a sandbox that is ready. */
const saved = async (id = crypto.randomUUID()): Promise<Workspace> => {
  const { workspaces, workspaceIn, readWorkspace } = stores();
  const workspace = await workspaceIn('ready');
  await workspaces.recordCheckpoint(workspace.id, checkpointOf(id), {});
  return readWorkspace(workspace.id);
};

const snapshotOf = ({ id: workspace, owner, project, checkpoint }: Workspace): Snapshot => ({
  ...{ id: crypto.randomUUID() as SnapshotId, owner, project, workspace, session: newSession().id },
  ...{ name: 'a snapshot', at: made },
  ...(checkpoint === undefined ? {} : { checkpoint: ownedBy(workspace, checkpoint) }),
});

const request = { snapshotsMax: 100, audits: [] };

const pinned = async (): Promise<{ readonly workspace: Workspace; readonly snapshot: Snapshot }> => {
  const workspace = await saved();
  const snapshot = snapshotOf(workspace);
  expect(await stores().snapshots.create(snapshot, request)).toBe('created');
  return { workspace: await stores().readWorkspace(workspace.id), snapshot };
};

/** A fork as the creation of its session makes it. */
const fork = async (source: FilesSource, at = made) => {
  const { sessions } = stores();
  const session = newExecution({ createdAt: at });
  const sources = source.checkpoint?.workspace === undefined ? [] : [source.checkpoint.workspace];
  const workspace: Workspace = {
    ...workspaceOf(session),
    ...(source.checkpoint === undefined
      ? {}
      : { checkpoint: { ...source.checkpoint, generation: 0 }, sources }),
  };
  return { session, workspace, result: await sessions.create(session, { workspace, source }) };
};

const settled = async (id: WorkspaceId, at = later) => {
  const { workspaces } = stores();
  return workspaces.settledPins(id, { workspace: await workspaces.get(id), at });
};

const due = async (owner: WorkspaceId): Promise<readonly ReleasedPin[]> =>
  (await stores().workspaces.duePins(later, 10_000)).filter((pin) => pin.owner === owner);

describe('a snapshot', () => {
  test('SN2: is there with its pin on the objects of its checkpoint, and both end together', async () => {
    const { snapshots } = stores();
    const { workspace, snapshot } = await pinned();
    const { id, checkpoint } = workspace;
    const objects = [`manifests/${checkpoint?.id}.json`, `packs/${checkpoint?.id}`];
    const holder = `snapshot:${snapshot.id}`;
    expect(workspace.isPinned).toBe(true);
    expect(await snapshots.list(snapshot.project)).toEqual([snapshot]);
    expect(await settled(id)).toMatchObject({ pins: [{ owner: id, holder, objects }] });
    expect(await snapshots.remove(snapshot, later, [])).toBe(true);
    expect(await snapshots.remove(snapshot, later, [])).toBe(false);
    expect(await snapshots.get(snapshot.project, snapshot.id)).toBeUndefined();
    expect(await due(id)).toEqual([{ owner: id, holder, objects, releasedAt: later }]);
  });

  test('is refused when the workspace has another checkpoint by now, or is being deleted', async () => {
    const { snapshots, workspaces, makeWorkspace, readWorkspace } = stores();
    const workspace = await saved();
    await workspaces.recordCheckpoint(workspace.id, checkpointOf('next'), { id: workspace.checkpoint?.id });
    expect(await snapshots.create(snapshotOf(workspace), request)).toBe('moved');
    const empty = await makeWorkspace({ users: [], isNamed: true });
    expect(await snapshots.create(snapshotOf(empty), request)).toBe('created');
    await workspaces.markDeleted(empty, 1, []);
    expect(await snapshots.create(snapshotOf(empty), request)).toBe('moved');
    expect((await readWorkspace(workspace.id)).isPinned).toBeUndefined();
  });

  test('SN6: twenty at once are as many as a project may have', async () => {
    const { snapshots } = stores();
    const workspace = await saved();
    const all = await atOnce(20, () =>
      snapshots.create(snapshotOf(workspace), { snapshotsMax: 5, audits: [] }),
    );
    expect(tally(all)).toEqual({ created: 5, full: 15 });
    const [one] = await snapshots.list(workspace.project);
    if (one !== undefined) await snapshots.remove(one, later, []);
    expect(await snapshots.create(snapshotOf(workspace), { snapshotsMax: 5, audits: [] })).toBe('created');
  });
});

describe('a fork', () => {
  test('holds a pin on its source, which ends with its workspace', async () => {
    const { sessions, workspaces, readWorkspace } = stores();
    const source = await saved();
    const { session, workspace, result } = await fork(sourceOfWorkspace(source.id, source.checkpoint));
    expect(result).toBe('created');
    expect(await readWorkspace(workspace.id)).toEqual(workspace);
    expect(await settled(source.id)).toMatchObject({ pins: [{ holder: `workspace:${workspace.id}` }] });
    expect(await workspaces.remove(workspace.id, 7000)).toBe(false);
    expect(await due(source.id)).toEqual([]);
    await sessions.end(session, { status: 'stopped', at: later, dueAt: later });
    await workspaces.leave(workspace.id, session.id);
    expect(await workspaces.remove(workspace.id, 7000)).toBe(true);
    expect(await workspaces.get(workspace.id)).toBeUndefined();
    expect(await due(source.id)).toMatchObject([{ holder: `workspace:${workspace.id}` }]);
  });

  test('of a checkpoint that moved, or of a deleted snapshot, is not made', async () => {
    const { snapshots, workspaces } = stores();
    const { workspace, snapshot } = await pinned();
    await workspaces.recordCheckpoint(workspace.id, checkpointOf('next'), { id: workspace.checkpoint?.id });
    expect((await fork(sourceOfWorkspace(workspace.id, workspace.checkpoint))).result).toBe('moved');
    expect((await fork(sourceOfSnapshot(snapshot))).result).toBe('created');
    await snapshots.remove(snapshot, later, []);
    expect((await fork(sourceOfSnapshot(snapshot))).result).toBe('moved');
  });

  test('leaves its source when its checkpoint has moved on, unless that moves again', async () => {
    const { workspaces, readWorkspace } = stores();
    const source = await saved();
    const { workspace } = await fork(sourceOfWorkspace(source.id, source.checkpoint));
    const read = await readWorkspace(workspace.id);
    expect(
      await workspaces.releaseSources({ ...read, checkpoint: checkpointOf('other') }, [source.id], later),
    ).toBe(false);
    expect(await workspaces.releaseSources(read, [source.id], later)).toBe(true);
    expect((await readWorkspace(workspace.id)).sources).toBeUndefined();
    expect(await due(source.id)).toHaveLength(1);
  });
});

describe('the pins of a workspace', () => {
  test('are unknown for 15 s after one was made, and when the checkpoint has moved', async () => {
    const { workspaces } = stores();
    const { workspace } = await pinned();
    expect(await settled(workspace.id, made + 14_999)).toBeUndefined();
    expect(await settled(workspace.id, made + 15_000)).toBeDefined();
    await workspaces.recordCheckpoint(workspace.id, checkpointOf('next'), { id: workspace.checkpoint?.id });
    expect(await workspaces.settledPins(workspace.id, { workspace, at: later })).toBeUndefined();
    expect(await workspaces.settledPins(workspace.id, { workspace: undefined, at: later })).toBeUndefined();
  });

  test('are none where none was ever made, also of a workspace that does not exist', async () => {
    const { id } = await saved();
    expect(await settled(id)).toEqual({ pins: [] });
    expect(await settled(crypto.randomUUID() as WorkspaceId)).toEqual({ pins: [] });
  });

  test('SN3: of two that are collected concurrently, one takes the set and the mark with it', async () => {
    const { snapshots, workspaces, readWorkspace, item } = stores();
    const { workspace, snapshot } = await pinned();
    const other = { ...snapshotOf(workspace), at: made + 1 };
    await snapshots.create(other, request);
    for (const one of [snapshot, other]) await snapshots.remove(one, later, []);
    const ended = await due(workspace.id);
    const set = await settled(workspace.id);
    if (set === undefined) throw new Error('they have not settled');
    expect(ended).toHaveLength(2);
    await Promise.all(ended.map((pin) => workspaces.removePin(pin, set)));
    for (const pin of ended) expect(await item(keys.pin(pin.owner, pin.holder))).toBeUndefined();
    expect(await item(keys.pins(workspace.id))).toBeUndefined();
    expect((await readWorkspace(workspace.id)).isPinned).toBeUndefined();
  });

  test('SN3: the last ended one takes the set and the mark with it', async () => {
    const { snapshots, workspaces, readWorkspace, item } = stores();
    const { workspace, snapshot } = await pinned();
    await snapshots.remove(snapshot, later, []);
    const [pin] = await due(workspace.id);
    const set = await settled(workspace.id);
    if (pin === undefined || set === undefined) throw new Error('it has not ended');
    await workspaces.postponePin(pin, later + 1);
    expect(await due(workspace.id)).toEqual([]);
    await workspaces.removePin(pin, set);
    expect(await item(keys.pin(pin.owner, pin.holder))).toBeUndefined();
    expect(await item(keys.pins(workspace.id))).toBeUndefined();
    expect((await readWorkspace(workspace.id)).isPinned).toBeUndefined();
  });

  test('the set stays when a pin was made concurrently, and an ended pin that is taken up again stays', async () => {
    const { snapshots, workspaces, readWorkspace, item } = stores();
    const { workspace, snapshot } = await pinned();
    await snapshots.remove(snapshot, later, []);
    const [pin] = await due(workspace.id);
    const set = await settled(workspace.id);
    if (pin === undefined || set === undefined) throw new Error('it has not ended');
    await snapshots.create({ ...snapshotOf(workspace), at: later }, request);
    await workspaces.removePin({ ...pin, objects: [...pin.objects, 'another'] }, set);
    expect(await item(keys.pin(pin.owner, pin.holder))).toBeDefined();
    await workspaces.removePin(pin, set);
    expect(await item(keys.pin(pin.owner, pin.holder))).toBeUndefined();
    expect((await readWorkspace(workspace.id)).isPinned).toBe(true);
  });
});

describe('a restore', () => {
  const restoreOf = (snapshot: Snapshot, id: string) => ({
    checkpoint: checkpointOf(id, snapshot.checkpoint?.packs ?? []),
    source: sourceOfSnapshot(snapshot),
    reason: 'a snapshot was restored',
    at: later,
    dueAt: later + 1,
    audits: [],
  });

  test('SN4: gives the checkpoint, stops the sandbox, and nothing of that is saved afterwards', async () => {
    const { workspaces, readWorkspace } = stores();
    const { workspace, snapshot } = await pinned();
    const { id } = workspace;
    expect(await workspaces.restoreTo(workspace, [], restoreOf(snapshot, 'back'))).toMatchObject({
      checkpoint: { id: 'back' },
      sandbox: { state: 'stopping' },
    });
    expect(await readWorkspace(id)).toMatchObject({
      checkpoint: { id: 'back' },
      sandbox: { state: 'stopping', isDiscarded: true, stoppedReason: 'a snapshot was restored' },
    });
    expect(await workspaces.recordCheckpoint(id, checkpointOf('old'), { id: 'back' })).toBe(false);
    expect(await workspaces.restoreTo(workspace, [], restoreOf(snapshot, 'twice'))).toBeUndefined();
  });

  test('fails when a session in the workspace has moved, or the snapshot is deleted', async () => {
    const { sessions, snapshots, workspaces, readWorkspace } = stores();
    const session = newExecution();
    await sessions.create(session, { workspace: workspaceOf(session) });
    const workspace = await readWorkspace(session.workspace);
    const snapshot = { ...snapshotOf(workspace) };
    await snapshots.create(snapshot, request);
    await sessions.beginCall(session.id, { key: 'k', at: 2000, until: 3000, idleMs: 1000 });
    const restore = restoreOf(snapshot, 'back');
    expect(await workspaces.restoreTo(workspace, [session], restore)).toBeUndefined();
    await snapshots.remove(snapshot, later, []);
    expect(await workspaces.restoreTo(workspace, [], restore)).toBeUndefined();
    expect((await readWorkspace(workspace.id)).checkpoint).toBeUndefined();
  });

  test('of another workspace’s snapshot holds a pin on that', async () => {
    const { workspaces, readWorkspace } = stores();
    const { workspace: source, snapshot } = await pinned();
    const target = await saved();
    const restore = restoreOf(snapshot, 'back');
    const checkpoint = { ...restore.checkpoint, packs: [`${source.id}/${source.checkpoint?.id}`] };
    await workspaces.restoreTo(target, [], { ...restore, checkpoint });
    expect((await readWorkspace(target.id)).sources).toEqual([source.id]);
    const { pins } = (await settled(source.id, later + 60_000)) ?? { pins: [] };
    expect(pins).toContainEqual({
      owner: source.id,
      holder: `workspace:${target.id}`,
      objects: [`packs/${source.checkpoint?.id}`],
    });
  });
});
