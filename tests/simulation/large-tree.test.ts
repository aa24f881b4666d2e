/** A tree of fifty agents under a dollar, in one of the hundred worlds that `npm run prove:sandbox -- tree` tries. */
import { expect, test } from 'vitest';
import { agentsMax, budgetUsd, runLargeTree } from './large-tree.ts';

/** With thousands of faults, and a few seconds on a machine that does nothing else. */
const seed = 7;
const timeoutMs = 240_000;

test('TM1, TM7: fifty agents spend their dollar and no more, and are charged for no more', {
  timeout: timeoutMs,
}, async () => {
  const { agents, spentUsd, unsettledUsd, costUsd, billedUsd, refused, broken } = await runLargeTree(seed);
  expect({ agents, broken }).toEqual({ agents: agentsMax, broken: undefined });
  expect(Math.max(spentUsd + unsettledUsd, costUsd, billedUsd)).toBeLessThanOrEqual(budgetUsd);
  expect(billedUsd).toBeGreaterThan(costUsd);
  // The limit was met, so that it was it that held.
  expect(refused).toBeGreaterThan(0);
  expect(spentUsd + unsettledUsd).toBeGreaterThan(0.98 * budgetUsd);
});
