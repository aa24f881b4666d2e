/** A tree of fifty agents under a dollar, in one of the hundred worlds that `npm run prove:sandbox -- tree` tries. */
import { expect, test } from 'vitest';
import { agentsMax, budgetUsd, runLargeTree } from './large-tree.ts';

/** With thousands of faults, and a few seconds on a machine that does nothing else. */
const seed = 7;
const timeoutMs = 240_000;

test('TM1: fifty agents spend their dollar and no more', { timeout: timeoutMs }, async () => {
  const { agents, spentUsd, costUsd, refused, broken } = await runLargeTree(seed);
  expect({ agents, broken }).toEqual({ agents: agentsMax, broken: undefined });
  expect(Math.max(spentUsd, costUsd)).toBeLessThanOrEqual(budgetUsd);
  // The limit was met, so that it was it that held.
  expect(refused).toBeGreaterThan(0);
  expect(spentUsd).toBeGreaterThan(0.98 * budgetUsd);
});
