import { expect, test } from 'vitest';
import { treeSettings, turnSettings } from '#shared/config/settings.ts';
import { limitsInForceFor, treeLimitBounds } from './tree-limits.ts';

const operator = { recursionDepthMax: 3, agentsPerSessionMax: 50, costUsdMax: 10 };

test('what a project or session says holds, and the operator’s word where it says nothing', () => {
  expect(limitsInForceFor({}, operator)).toEqual(operator);
  expect(limitsInForceFor({ limits: { recursionDepthMax: 0, costUsdMax: 0 } }, operator)).toEqual({
    recursionDepthMax: 0,
    agentsPerSessionMax: 50,
    costUsdMax: 0,
  });
  expect(limitsInForceFor({ limits: { agentsPerSessionMax: 1 } }, operator).agentsPerSessionMax).toBe(1);
});

test.each([
  ['recursionDepthMax', treeSettings.shape.MAX_RECURSION_DEPTH],
  ['agentsPerSessionMax', treeSettings.shape.MAX_AGENTS_PER_SESSION],
  ['costUsdMax', turnSettings.shape.MAX_COST_USD],
] as const)('%s has the bounds of the operator’s setting', (limit, setting) => {
  const { min, max } = treeLimitBounds[limit];
  const isTaken = (value: number) => setting.safeParse(String(value)).success;
  expect([min - 1, min, max, max + 1].map(isTaken)).toEqual([false, true, true, false]);
});
