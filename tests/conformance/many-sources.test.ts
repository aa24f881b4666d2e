/** A workspace with pins on more others than one transaction takes, against a real DynamoDB engine: each of them ends. */
import { describe, expect, test } from 'vitest';
import { makeSnapshotStore } from '#shared/adapters/aws/dynamo/snapshots.ts';
import { keys } from '#shared/adapters/aws/dynamo/table.ts';
import type { SessionId, SnapshotId, WorkspaceId } from '#shared/domain/ids.ts';
import { sourcesReleasedMax } from '#shared/domain/pins.ts';
import type { Workspace } from '#shared/domain/sandbox.ts';
import { sourceOfSnapshot } from '#shared/domain/snapshot.ts';
import { newExecution, onTable } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

const stores = () => onTable(fixture.table);

const at = 100_000;
const restores = 3;
const sourcesOfOne = 40;

/** Files of so many others were restored into it, one time after the other. */
const restored = async (): Promise<Workspace> => {
  const { workspaces, makeWorkspace, readWorkspace } = stores();
  const made = await makeWorkspace({ users: [] });
  const { id, owner, project } = made;
  const snapshot = {
    ...{ id: crypto.randomUUID() as SnapshotId, owner, project, workspace: id, name: 'a snapshot', at },
    session: crypto.randomUUID() as SessionId,
  };
  await makeSnapshotStore(fixture.table).create(snapshot, { snapshotsMax: 100, audits: [] });
  for (let count = 0; count < restores; count += 1) {
    const packs = Array.from({ length: sourcesOfOne }, () => `${crypto.randomUUID()}/pack`);
    const checkpoint = {
      id: `restored-${count}`,
      sha256: 'ab',
      savedAt: at,
      generation: 0,
      files: 2,
      bytes: 30,
      packs,
    };
    const restore = {
      checkpoint,
      source: sourceOfSnapshot(snapshot),
      reason: 'a snapshot',
      at,
      dueAt: at,
      audits: [],
    };
    expect(await workspaces.restoreTo(await readWorkspace(id), [], restore)).toBeDefined();
  }
  const workspace = await readWorkspace(id);
  expect(workspace.sources?.length).toBe(restores * sourcesOfOne);
  expect(restores * sourcesOfOne).toBeGreaterThan(sourcesReleasedMax);
  return workspace;
};

/** The number of its pins that have not ended. */
const heldBy = async (id: WorkspaceId, sources: readonly WorkspaceId[] = []): Promise<number> => {
  const pins = await Promise.all(sources.map((source) => stores().item(keys.pin(source, `workspace:${id}`))));
  return pins.filter((pin) => pin !== undefined && pin['releasedAt'] === undefined).length;
};

describe('SN2: a workspace with pins on more others than one transaction takes', () => {
  test('leaves them all', async () => {
    const { workspaces, readWorkspace } = stores();
    const workspace = await restored();
    const { id, sources = [] } = workspace;
    expect(await heldBy(id, sources)).toBe(sources.length);
    expect(await workspaces.releaseSources(workspace, sources, at)).toBe(true);
    expect((await readWorkspace(id)).sources).toBeUndefined();
    expect(await heldBy(id, sources)).toBe(0);
  });

  test('is deleted with them', async () => {
    const { workspaces } = stores();
    const { id, sources } = await restored();
    expect(await workspaces.remove(id, at)).toBe(true);
    expect(await workspaces.get(id)).toBeUndefined();
    expect(await heldBy(id, sources)).toBe(0);
  });

  test('keeps them while a session uses it', async () => {
    const { sessions, workspaces, readWorkspace } = stores();
    const { id, owner, project, sources } = await restored();
    await sessions.create(newExecution({ owner, project, workspace: id }), { enters: {} });
    expect(await workspaces.remove(id, at)).toBe(false);
    expect((await readWorkspace(id)).deletedAt).toBeUndefined();
    expect(await heldBy(id, sources)).toBe(sources?.length);
  });
});
