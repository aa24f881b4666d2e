/** Details of sessions and lifetimes of sandboxes against a real DynamoDB engine: stored, changed alone, removed, absent. */
import { expect, test } from 'vitest';
import { makeWorkspaceStore } from '#shared/adapters/aws/dynamo/workspace-store.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { sandboxLookMs } from '#shared/domain/limits.ts';
import { newSandbox, newSession, onTable } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

const details = {
  labels: { team: 'red', 'a/b': '' },
  isArchived: true as const,
  idleMs: 5000,
  lifetimeMs: 60_000,
};

test('details are read back as they were given, and a session without them has none', async () => {
  const { create, sessions } = onTable(fixture.table);
  const made = await create(newSession(details));
  expect(await sessions.get(made.id)).toEqual(made);
  const bare = await create(newSession());
  expect(Object.keys((await sessions.get(bare.id)) ?? {})).not.toContain('labels');
});

test('a label may have the name of what objects of the language have', async () => {
  const { create, sessions } = onTable(fixture.table);
  const labels = { constructor: 'x', toString: 'y', length: '' };
  const { id } = await create(newSession({ labels }));
  expect((await sessions.get(id))?.labels).toEqual(labels);
  expect(await sessions.change(id, { labels: { constructor: 'z' } })).toMatchObject({
    labels: { constructor: 'z' },
  });
});

test('concurrent changes of different details both hold, and one that is removed is absent', async () => {
  const { create, sessions } = onTable(fixture.table);
  const { id } = await create(newSession({ ...details, title: 'before' }));
  await Promise.all([
    sessions.change(id, { title: 'after' }),
    sessions.change(id, { labels: { team: 'blue' }, idleMs: undefined }),
    sessions.change(id, { isArchived: undefined }),
  ]);
  const now = await sessions.change(id, {});
  expect(now).toMatchObject({ title: 'after', labels: { team: 'blue' }, lifetimeMs: 60_000 });
  expect(now).not.toHaveProperty('isArchived');
  expect(now).not.toHaveProperty('idleMs');
  expect(await sessions.get(id)).toEqual(now);
});

test('a change that follows from what was read is made only while that is as it was', async () => {
  const { create, sessions } = onTable(fixture.table);
  const { id } = await create(newSession({ limits: { costUsdMax: 2 } }));
  const read = { limits: { costUsdMax: 2 }, network: undefined };
  const limits = { costUsdMax: 2, ownCostUsdMax: 1 };
  expect(await sessions.change(id, { limits, title: 'x' }, read)).toMatchObject({ limits, title: 'x' });
  expect(await sessions.change(id, { limits: { costUsdMax: 9 } }, read)).toBeUndefined();
  expect(await sessions.change(id, { limits: undefined }, { limits })).not.toHaveProperty('limits');
  expect(await sessions.change(id, {}, { title: undefined })).toBeUndefined();
  expect(await sessions.get(id)).toMatchObject({ title: 'x' });
});

test('a session that does not exist is not made by a change', async () => {
  const { sessions } = onTable(fixture.table);
  const id = crypto.randomUUID() as SessionId;
  expect(await sessions.change(id, { title: 'x' })).toBeUndefined();
  expect(await sessions.change(id, {})).toBeUndefined();
  expect(await sessions.get(id)).toBeUndefined();
});

/** Ids of workspaces that are due at that time. */
const dueAt = async (time: number): Promise<readonly string[]> =>
  (await makeWorkspaceStore(fixture.table).due(time, 1000)).map(({ id }) => id);

test('a sandbox that is ready is due at the end of its lifetime, else for a look', async () => {
  const { create, workspaces } = onTable(fixture.table);
  const short = await create(newSession());
  const endless = await create(newSession());
  await workspaces.claimStart(short.workspace, newSandbox({ lifetimeMs: 60_000 }));
  await workspaces.claimStart(endless.workspace, newSandbox());
  for (const { workspace } of [short, endless]) await workspaces.markReady(workspace, 1, { at: 6000 });
  expect(await dueAt(65_999)).not.toContain(short.workspace);
  expect(await dueAt(66_000)).toContain(short.workspace);
  expect(await dueAt(66_000)).not.toContain(endless.workspace);
  expect(await dueAt(6000 + sandboxLookMs)).toContain(endless.workspace);
});

test('a lifetime is changed for the generation that runs, and for no other', async () => {
  const { create, workspaces } = onTable(fixture.table);
  const { workspace } = await create(newSession());
  await workspaces.claimStart(workspace, newSandbox());
  await workspaces.markReady(workspace, 1, { at: 6000 });
  const lifetime = { lifetimeMs: 10_000, dueAt: 16_000 };
  expect(await workspaces.setLifetime(workspace, 2, lifetime)).toBe(false);
  expect(await workspaces.setLifetime(workspace, 1, lifetime)).toBe(true);
  expect((await workspaces.get(workspace))?.sandbox?.lifetimeMs).toBe(10_000);
  expect(await dueAt(16_000)).toContain(workspace);
  expect(await workspaces.setLifetime(workspace, 1, { lifetimeMs: undefined, dueAt: 9_000_000 })).toBe(true);
  expect((await workspaces.get(workspace))?.sandbox).not.toHaveProperty('lifetimeMs');
  expect(await dueAt(16_000)).not.toContain(workspace);
  await workspaces.markStopped(workspace, 1, { reason: 'x', at: 7000 });
  expect(await workspaces.setLifetime(workspace, 1, lifetime)).toBe(false);
});

test('a network is changed for the generation that runs, and for no other', async () => {
  const { create, workspaces } = onTable(fixture.table);
  const { workspace } = await create(newSession());
  await workspaces.claimStart(workspace, newSandbox());
  const network = { allow: ['a.example.org', '*.example.com:443'] };
  expect(await workspaces.setNetwork(workspace, 2, network)).toBe(false);
  expect(await workspaces.setNetwork(workspace, 1, network)).toBe(true);
  expect((await workspaces.get(workspace))?.sandbox?.network).toEqual(network);
  expect(await workspaces.setNetwork(workspace, 1, undefined)).toBe(true);
  expect((await workspaces.get(workspace))?.sandbox).not.toHaveProperty('network');
  await workspaces.markStopped(workspace, 1, { reason: 'x', at: 7000 });
  expect(await workspaces.setNetwork(workspace, 1, network)).toBe(false);
});
