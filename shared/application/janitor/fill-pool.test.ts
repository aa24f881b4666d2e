/** The warm pool after its settings have changed: entries of before are stopped, and started anew as asked now. */
import { expect, test } from 'vitest';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import { type PoolPlan, poolEntryId } from '../../domain/pool.ts';
import { drainPool, fillPool } from './fill-pool.ts';

const before: PoolPlan = { size: 2, flavors: { execution: 'small', agent: 'micro' }, template: 'python' };

const filled = async () => {
  const quiet = openQuietPorts();
  const ports = { ...quiet.ports, poolSize: before.size };
  expect(await fillPool(ports, before)).toEqual({ started: 2, ready: 0 });
  for (const index of [0, 1]) await ports.workspaces.markReady(poolEntryId(index), 1, { at: 1 });
  const entry = async (index: number) => (await ports.workspaces.get(poolEntryId(index)))?.sandbox;
  return { ports, entry };
};

test('a pool of the same settings is left alone', async () => {
  const { ports, entry } = await filled();
  expect(await drainPool(ports, before)).toBe(0);
  expect(await fillPool(ports, before)).toEqual({ started: 0, ready: 2 });
  expect(await entry(0)).toMatchObject({ state: 'ready', flavor: 'small', template: 'python' });
});

test('an entry of another flavor than the one asked for now is stopped, and its neighbour stays', async () => {
  const { ports, entry } = await filled();
  const now: PoolPlan = { ...before, flavors: { execution: 'large', agent: 'micro' } };
  expect(await drainPool(ports, now)).toBe(1);
  expect(await entry(0)).toMatchObject({ state: 'stopping' });
  expect(await entry(1)).toMatchObject({ state: 'ready', generation: 1 });
  await ports.workspaces.markStopped(poolEntryId(0), 1, { reason: 'stopped', at: 2 });
  expect(await fillPool(ports, now)).toMatchObject({ started: 1 });
  expect(await entry(0)).toMatchObject({ state: 'starting', flavor: 'large', generation: 2 });
});

test('another template of sessions that name none is that of the pool', async () => {
  const { ports, entry } = await filled();
  const now: PoolPlan = { ...before, template: 'node' };
  expect(await drainPool(ports, now)).toBe(2);
  for (const index of [0, 1])
    await ports.workspaces.markStopped(poolEntryId(index), 1, { reason: 'stopped', at: 2 });
  expect(await fillPool(ports, now)).toMatchObject({ started: 2 });
  expect(await entry(1)).toMatchObject({ flavor: 'micro', template: 'node' });
});
