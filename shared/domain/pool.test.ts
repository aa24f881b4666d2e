import { describe, expect, test } from 'vitest';
import type { Flavor } from './flavor.ts';
import type { OwnerId, ProjectId, WorkspaceId } from './ids.ts';
import {
  claimableEntries,
  entryKind,
  isPoolEntry,
  type PoolPlan,
  poolEntries,
  poolEntryId,
  reasonToDrain,
} from './pool.ts';
import type { SandboxRecord, Workspace } from './sandbox.ts';
import type { Template } from './template.ts';

const entry = (index: number, sandbox?: Partial<SandboxRecord>): Workspace => ({
  id: poolEntryId(index),
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

const plan: PoolPlan = {
  size: 12,
  flavors: { execution: 'large', agent: 'micro' },
  template: 'science' as Template,
};

describe('pool entries', () => {
  test('are numbered from 0, as many as the pool holds', () => {
    expect(poolEntries(3)).toEqual(['pool-0', 'pool-1', 'pool-2']);
    expect(poolEntries(0)).toEqual([]);
  });

  test('are distinguished from workspaces of sessions', () => {
    expect(isPoolEntry(poolEntryId(100))).toBe(true);
    expect(isPoolEntry('0b5ff1c6-0a3f-4d0e-9d6e-6f1f7a2b3c4d' as WorkspaceId)).toBe(false);
  });

  test('have the flavors of executions and of agents in turn', () => {
    expect(poolEntries(12).map((id) => entryKind(id, plan).flavor)).toEqual(
      Array.from({ length: 6 }, () => ['large', 'micro']).flat(),
    );
  });

  test('have the template of sessions that name none', () => {
    expect(poolEntries(2).map((id) => entryKind(id, plan).template)).toEqual(['science', 'science']);
  });
});

describe('a pool entry is kept', () => {
  const kept = { flavor: 'large', template: 'science' } as const;

  test.each([
    ['of its kind', entry(0, kept), undefined],
    ['without a sandbox', entry(0), undefined],
    ['beyond the size', entry(12, kept), 'the pool became smaller'],
    [
      'of the size before',
      entry(0, { ...kept, flavor: 'small' }),
      'the pool holds large sandboxes of template science here',
    ],
    [
      'of the template before',
      entry(1, { flavor: 'micro' }),
      'the pool holds micro sandboxes of template science here',
    ],
  ])('or drained: one %s', (_, workspace, reason) => {
    expect(reasonToDrain(workspace, plan)).toBe(reason);
  });
});

describe('of the entries of a pool', () => {
  const indexes = (entries: readonly Workspace[]) => entries.map(({ id }) => id);
  const claimable = (entries: readonly Workspace[], flavor: Flavor, from: number) =>
    claimableEntries(entries, { flavor, template: 'python' }, from);

  test('one of another template is left', () => {
    const entries = [entry(0), entry(1, { template: 'node' })];
    expect(indexes(claimableEntries(entries, { flavor: 'small', template: 'node' }, 0))).toEqual(['pool-1']);
    expect(claimableEntries(entries, { flavor: 'small', template: 'science' }, 0)).toEqual([]);
  });

  test('those that are ready and of the right size are claimed', () => {
    const entries = [
      entry(0),
      entry(1, { state: 'starting' }),
      entry(2),
      entry(3, { state: 'ready' }),
      entry(4, { state: 'stopping' }),
      entry(5, { state: 'stopped' }),
      entry(6, { state: 'ready', flavor: 'micro' }),
    ];
    expect(indexes(claimable(entries, 'small', 0))).toEqual(['pool-3']);
    expect(indexes(claimable(entries, 'micro', 7))).toEqual(['pool-6']);
    expect(claimable(entries, 'large', 7)).toEqual([]);
  });

  test('others do not count in the order', () => {
    const entries = [entry(0, {}), entry(1), entry(2, {})];
    expect(indexes(claimable(entries, 'small', 3))).toEqual(['pool-2', 'pool-0']);
  });

  test.each([
    [0, ['pool-0', 'pool-1', 'pool-2']],
    [1, ['pool-1', 'pool-2', 'pool-0']],
    [2, ['pool-2', 'pool-0', 'pool-1']],
    [3, ['pool-0', 'pool-1', 'pool-2']],
    [1_700_000_000_001, ['pool-0', 'pool-1', 'pool-2']],
  ])('a claimant starting at %d tries them in the order %j', (from, expected) => {
    const entries = [entry(0, {}), entry(1, {}), entry(2, {})];
    expect(indexes(claimable(entries, 'small', from))).toEqual(expected);
  });
});
