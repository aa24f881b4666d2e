/** The janitor beside many due items, in virtual time: all are done, at the same cost each, over all shards. */
import { expect, test } from 'vitest';
import { dueShards, dueValues } from '#shared/adapters/aws/dynamo/table.ts';
import type { OwnerId, ProjectId } from '#shared/domain/ids.ts';
import { agentSlots, executionSlots } from '#shared/domain/slot-holder.ts';
import { floodCosts, isFlat } from '../../operations/bench/flood-cost.ts';
import { newSession, workspaceOf } from '../conformance/session-fixture.ts';
import { flood } from './flood.ts';
import { openQuietPorts } from './quiet-ports.ts';

const ceilingMs = 300_000;

test(
  'L13: all that becomes due within an hour is done, each at the cost of one of few',
  async () => {
    const costs = await floodCosts([50, 500]);
    expect(costs.map(({ left, reported }) => ({ left, reported }))).toEqual(
      costs.map(() => ({ left: 0, reported: [] })),
    );
    expect(isFlat(costs)).toBe(true);
  },
  ceilingMs,
);

test(
  'L13: what is due at one moment is read as often as one among few, and all is done',
  async () => {
    const [few, many] = [await flood(50, { spreadMs: 1 }), await flood(900, { spreadMs: 1 })];
    expect([few.left, many.left]).toEqual([0, 0]);
    expect(many.itemsRead / 900).toBeLessThanOrEqual((few.itemsRead / 50) * 1.05);
  },
  ceilingMs,
);

test('as many are read as are due, also where one shard has them all', async () => {
  const { ports } = openQuietPorts();
  const shardOf = (id: string): string => dueValues('session', id, 0)[':duePk'];
  const first = newSession({ dueAt: 1 });
  const all = [first];
  while (all.length < 6) {
    const session = newSession({ dueAt: all.length + 1 });
    if (shardOf(session.id) === shardOf(first.id)) all.push(session);
  }
  for (const session of all) await ports.sessions.create(session, { workspace: workspaceOf(session) });
  const due = async (itemsMax: number) => (await ports.sessions.due(10, itemsMax)).map(({ id }) => id);
  const ids = all.map(({ id }) => id);
  expect([await due(5), await due(100)]).toEqual([ids.slice(0, 5), ids]);
});

test.each([
  ['ids', () => crypto.randomUUID() as string],
  ['holders of an owner', () => executionSlots(crypto.randomUUID() as OwnerId)],
  ['holders of a project', () => agentSlots(crypto.randomUUID() as ProjectId)],
  ['entries of a pool', (index: number) => `pool-${index}`],
])('%s are spread evenly over the shards', (_, idOf) => {
  const counts = new Map<string, number>();
  for (let index = 0; index < 16_000; index += 1) {
    const shard = dueValues('session', idOf(index), 0)[':duePk'];
    counts.set(shard, (counts.get(shard) ?? 0) + 1);
  }
  expect(counts.size).toBe(dueShards.session);
  // Of 1000 that are expected.
  expect(Math.max(...counts.values())).toBeLessThan(1300);
});
