/** Applying the effect of a command equals running it, file for file, mode for mode (AP7). */
import { expect, test } from 'vitest';
import { tallyEffects } from '../../tests/linked/applied-effects.ts';
import { openBucket } from '../../tests/linked/linked-sandbox.ts';

test('the applied effect of a generated command is what running it leaves', async () => {
  const { bucket, close } = await openBucket();
  const tally = await tallyEffects(bucket, { count: 75, seed: 1 }).finally(close);
  expect(tally.differences).toEqual([]);
  expect(tally.compared).toBeGreaterThanOrEqual(75);
  expect(tally.changing).toBeGreaterThan(tally.compared / 3);
  expect(tally.refused).toBeLessThan(tally.compared);
});
