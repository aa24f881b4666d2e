/** Records of a living sandbox, against a real DynamoDB engine: each checkpoint after the last, each port once. */
import { describe, expect, test } from 'vitest';
import type { Checkpoint } from '#shared/domain/checkpoint.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import type { SandboxRecord } from '#shared/domain/sandbox.ts';
import { atOnce, newSandbox, onTable, tally } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

const stores = () => onTable(fixture.table);
const inState = (state: SandboxRecord['state']) => stores().workspaceIn(state);

describe('a checkpoint', () => {
  const checkpointOf = (id: string, generation = 1): Checkpoint => ({
    id,
    sha256: 'ab',
    savedAt: 6500,
    generation,
    files: 2,
    bytes: 30,
    packs: [id],
  });

  test('is recorded when it follows the current one', async () => {
    const { workspaces, readWorkspace } = stores();
    const before = await inState('ready');
    const { id } = before;
    expect(await workspaces.recordCheckpoint(id, checkpointOf('a'), { id: 'other' })).toBe(false);
    expect(await workspaces.recordCheckpoint(id, checkpointOf('a'), {})).toBe(true);
    expect(await workspaces.recordCheckpoint(id, checkpointOf('b'), {})).toBe(false);
    expect(await workspaces.recordCheckpoint(id, checkpointOf('b'), { id: 'a', logsSeen: 12 })).toBe(true);
    expect(await workspaces.recordCheckpoint(id, checkpointOf('c'), { id: 'a' })).toBe(false);
    expect(await readWorkspace(id)).toEqual({
      ...before,
      checkpoint: checkpointOf('b'),
      sandbox: { ...before.sandbox, logsSeen: 12 },
    });
  });

  test('of twenty that follow the same one is recorded once', async () => {
    const { workspaces } = stores();
    const { id } = await inState('ready');
    const noted = await atOnce(20, (index) =>
      workspaces.recordCheckpoint(id, checkpointOf(String(index)), {}),
    );
    expect(tally(noted)).toEqual({ true: 1, false: 19 });
  });

  test('survives its sandbox, and one of an older sandbox is refused', async () => {
    const { workspaces, readWorkspace } = stores();
    const { id } = await inState('stopped');
    expect(await workspaces.recordCheckpoint(id, checkpointOf('last'), {})).toBe(true);
    await workspaces.claimStart(id, newSandbox({ generation: 2 }));
    expect(await workspaces.recordCheckpoint(id, checkpointOf('late'), { id: 'last' })).toBe(false);
    expect(await workspaces.recordCheckpoint(id, checkpointOf('next', 2), { id: 'last' })).toBe(true);
    expect((await readWorkspace(id)).checkpoint).toEqual(checkpointOf('next', 2));
  });
});

describe('a preview port', () => {
  test('is leased to one of twenty, and the others in order', async () => {
    const { workspaces } = stores();
    const { id } = await inState('ready');
    const same = await atOnce(20, () => workspaces.leasePort(id, 1, 8000));
    expect(same.filter((ports) => ports !== undefined)).toEqual([[8000]]);
    await atOnce(20, (index) => workspaces.leasePort(id, 1, 8001 + index));
    const ports = (await workspaces.leasePort(id, 1, 8500)) ?? [];
    expect([...ports].sort()).toEqual([
      8000,
      ...Array.from({ length: 20 }, (_, index) => 8001 + index),
      8500,
    ]);
    expect([ports[0], ports.at(-1)]).toEqual([8000, 8500]);
    expect(await workspaces.leasePort(id, 1, 8010)).toBeUndefined();
  });

  test.each(['starting', 'stopping', 'stopped'] as const)(
    'is not leased of a sandbox that is %s',
    async (state) => {
      const { workspaces } = stores();
      const { id } = await inState(state);
      expect(await workspaces.leasePort(id, 1, 8000)).toBeUndefined();
    },
  );
});

describe('losses of a start', () => {
  const losses = { generation: 1, notice: '[lost]' };
  const users = ['one', 'other'].map((name) => `${name} ${crypto.randomUUID()}` as SessionId);
  const [one, other] = users as [SessionId, SessionId];
  const withLosses = async () => {
    const { workspaces } = stores();
    const { id } = await stores().workspaceIn('starting', { users });
    expect(await workspaces.markReady(id, 1, { at: 6000, losses })).toBe(true);
    return id;
  };

  test('are kept for all who use the workspace then, until each was told', async () => {
    const { workspaces, readWorkspace } = stores();
    const id = await withLosses();
    expect(await readWorkspace(id)).toMatchObject({ losses, unaware: users });
    await workspaces.recordLossNotice(id, 'third' as SessionId, 1);
    await workspaces.recordLossNotice(id, one, 1);
    await workspaces.recordLossNotice(id, one, 1);
    expect(await readWorkspace(id)).toMatchObject({ losses, unaware: [other] });
    await workspaces.recordLossNotice(id, other, 1);
    expect(await readWorkspace(id)).not.toHaveProperty('unaware');
  });

  test('are those of twenty at once', async () => {
    const { workspaces, readWorkspace } = stores();
    const id = await withLosses();
    await atOnce(20, (index) => workspaces.recordLossNotice(id, index % 2 === 0 ? one : other, 1));
    expect(await readWorkspace(id)).not.toHaveProperty('unaware');
  });

  test('of a later start stay untold', async () => {
    const { workspaces, readWorkspace } = stores();
    const id = await withLosses();
    await workspaces.markStopped(id, 1, { reason: 'it died', at: 7000 });
    await workspaces.claimStart(id, newSandbox({ generation: 2 }));
    const later = { generation: 2, notice: '[later]' };
    await workspaces.markReady(id, 2, { at: 8000, losses: later });
    await workspaces.recordLossNotice(id, one, 1);
    expect(await readWorkspace(id)).toMatchObject({ losses: later, unaware: users });
  });

  test('of a start that lost nothing are none, and earlier ones stay', async () => {
    const { workspaces, readWorkspace } = stores();
    const { id } = await inState('ready');
    expect(await readWorkspace(id)).not.toHaveProperty('unaware');
    const lossy = await withLosses();
    await workspaces.markStopped(lossy, 1, { reason: 'it died', at: 7000 });
    await workspaces.claimStart(lossy, newSandbox({ generation: 2 }));
    await workspaces.markReady(lossy, 2, { at: 8000 });
    expect(await readWorkspace(lossy)).toMatchObject({ losses, unaware: users });
  });

  test('of a workspace that nobody uses are for nobody', async () => {
    const { workspaces, readWorkspace } = stores();
    const { id, users: before } = await inState('starting');
    for (const user of before) await workspaces.leave(id, user);
    await workspaces.markReady(id, 1, { at: 6000, losses });
    expect(await readWorkspace(id)).toMatchObject({ losses, unaware: [] });
  });
});
