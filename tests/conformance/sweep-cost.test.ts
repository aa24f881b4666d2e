/** Table requests of a sweep, counted. */
import { expect, test } from 'vitest';
import { dueShards } from '#shared/adapters/aws/dynamo/table.ts';
import { measureSweep } from '../../operations/bench/sweep-cost.ts';

test('L13: sweeping five due sessions costs the same among three hundred others as among thirty', async () => {
  const [few, many] = [await measureSweep(30, 5), await measureSweep(300, 5)];
  expect(many).toEqual(few);
  const shards = Object.values(dueShards).reduce((sum, count) => sum + count, 0);
  expect(few.readCalls).toBeLessThanOrEqual(shards + 3 * 5);
  expect(few.writeCalls).toBeLessThanOrEqual(3 * 5);
});
