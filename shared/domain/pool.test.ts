import { describe, expect, test } from 'vitest';
import type { OwnerId, ProjectId, WorkspaceId } from './ids.ts';
import { claimableSlots, isPoolSlot, poolSlot, poolSlots, slotFlavor } from './pool.ts';
import type { SandboxRecord, Workspace } from './sandbox.ts';

const slot = (index: number, sandbox?: Partial<SandboxRecord>): Workspace => ({
  id: poolSlot(index),
  owner: 'deployment' as OwnerId,
  project: 'p' as ProjectId,
  createdAt: 0,
  users: [],
  ...(sandbox === undefined
    ? {}
    : {
        sandbox: {
          generation: 1,
          state: 'ready',
          flavor: 'small',
          template: 'python',
          requestedAt: 0,
          source: 'cold',
          ...sandbox,
        },
      }),
});

describe('slots', () => {
  test('are numbered from 0, as many as the pool holds', () => {
    expect(poolSlots(3)).toEqual(['pool-0', 'pool-1', 'pool-2']);
    expect(poolSlots(0)).toEqual([]);
  });

  test('are told from the workspaces of sessions', () => {
    expect(isPoolSlot(poolSlot(100))).toBe(true);
    expect(isPoolSlot('0b5ff1c6-0a3f-4d0e-9d6e-6f1f7a2b3c4d' as WorkspaceId)).toBe(false);
  });

  test('hold the flavors of executions and of agents in turn', () => {
    const flavors = { execution: 'large', agent: 'micro' } as const;
    expect(poolSlots(12).map((id) => slotFlavor(id, flavors))).toEqual(
      Array.from({ length: 6 }, () => ['large', 'micro']).flat(),
    );
  });
});

describe('of the slots of a pool', () => {
  const indexes = (slots: readonly Workspace[]) => slots.map(({ id }) => id);

  test('those are claimed that are ready and of the size', () => {
    const slots = [
      slot(0),
      slot(1, { state: 'starting' }),
      slot(2),
      slot(3, { state: 'ready' }),
      slot(4, { state: 'stopping' }),
      slot(5, { state: 'stopped' }),
      slot(6, { state: 'ready', flavor: 'micro' }),
    ];
    expect(indexes(claimableSlots(slots, 'small', 0))).toEqual(['pool-3']);
    expect(indexes(claimableSlots(slots, 'micro', 7))).toEqual(['pool-6']);
    expect(claimableSlots(slots, 'large', 7)).toEqual([]);
  });

  test('those that cannot be claimed do not count in the order', () => {
    const slots = [slot(0, {}), slot(1), slot(2, {})];
    expect(indexes(claimableSlots(slots, 'small', 3))).toEqual(['pool-2', 'pool-0']);
  });

  test.each([
    [0, ['pool-0', 'pool-1', 'pool-2']],
    [1, ['pool-1', 'pool-2', 'pool-0']],
    [2, ['pool-2', 'pool-0', 'pool-1']],
    [3, ['pool-0', 'pool-1', 'pool-2']],
    [1_700_000_000_001, ['pool-0', 'pool-1', 'pool-2']],
  ])('who claims from %d tries them in the order %j', (from, expected) => {
    const slots = [slot(0, {}), slot(1, {}), slot(2, {})];
    expect(indexes(claimableSlots(slots, 'small', from))).toEqual(expected);
  });
});
