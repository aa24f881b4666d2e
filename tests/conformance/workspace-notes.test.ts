/** Records of a living sandbox, against a real DynamoDB engine: each checkpoint after the last, each port once. */
import { describe, expect, test } from 'vitest';
import type { Checkpoint } from '#shared/domain/checkpoint.ts';
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
