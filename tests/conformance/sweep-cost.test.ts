/** Table requests of a sweep, counted. */
import { expect, test } from 'vitest';
import { measureSweep } from '../../operations/bench/sweep-cost.ts';

test('L13: sweeping five due sessions costs the same among three hundred others as among thirty', async () => {
  const [few, many] = [await measureSweep(30, 5), await measureSweep(300, 5)];
  expect(many).toEqual(few);
  expect(few.readCalls).toBeLessThanOrEqual(4 + 4 + 3 * 5);
});
