/** Trees of sessions, their limits, and the time that a session was given. */
import { expect, test } from 'vitest';
import { treeSettings, turnSettings } from '../config/settings.ts';
import type { SessionId } from './ids.ts';
import {
  costUsdMaxOf,
  generationsOf,
  isOutOfTime,
  limitsInForceFor,
  subtreeOf,
  treeLimitBounds,
  withOwnMoney,
} from './session-tree.ts';

const id = (name: string) => name as SessionId;
const member = (name: string, parent: string, depth: number) => ({
  id: id(name),
  depth,
  tree: { root: id('root'), parent: id(parent) },
});
const tree = [
  member('a1x', 'a1', 3),
  member('b', 'root', 1),
  member('a1', 'a', 2),
  member('a', 'root', 1),
  member('b1', 'b', 2),
];
const names = (members: readonly { readonly id: SessionId }[]): readonly string[] =>
  members.map((one) => one.id);

test('a subtree is the sessions below one session, nearest first, without that session', () => {
  expect(names(subtreeOf(tree, id('root')))).toEqual(['b', 'a', 'a1', 'b1', 'a1x']);
  expect(names(subtreeOf(tree, id('a')))).toEqual(['a1', 'a1x']);
  expect(subtreeOf(tree, id('a1x'))).toEqual([]);
});

test('generations are in the order of their depth', () => {
  expect(generationsOf(tree, id('root')).map(names)).toEqual([['b', 'a'], ['a1', 'b1'], ['a1x']]);
  expect(generationsOf(tree, id('b')).map(names)).toEqual([['b1']]);
});

const operator = { recursionDepthMax: 3, agentsPerSessionMax: 50, costUsdMax: 10 };

test('the limit of a project or session applies, else the operator’s', () => {
  expect(limitsInForceFor({}, operator)).toEqual(operator);
  expect(limitsInForceFor({ limits: { recursionDepthMax: 0, costUsdMax: 0 } }, operator)).toEqual({
    recursionDepthMax: 0,
    agentsPerSessionMax: 50,
    costUsdMax: 0,
  });
  expect(limitsInForceFor({ limits: { agentsPerSessionMax: 1 } }, operator).agentsPerSessionMax).toBe(1);
});

test.each([
  [{}, 10],
  [{ ownCostUsdMax: 2 }, 2],
  [{ ownCostUsdMax: 20 }, 10],
  [{ ownCostUsdMax: 0 }, 0],
  [{ ownCostUsdMax: 2, costUsdMax: 1 }, 1],
  [{ ownCostUsdMax: 20, costUsdMax: 30 }, 20],
])('a session with %j may cost %d dollars, and its agents no more', (limits, usd) => {
  expect(costUsdMaxOf({ limits }, operator.costUsdMax)).toBe(usd);
  expect(limitsInForceFor({ limits }, operator).costUsdMax).toBe(usd);
  expect(withOwnMoney({ usdMax: operator.costUsdMax }, { limits })).toEqual({ usdMax: usd });
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

test('the time that a session was given ends with its last millisecond', () => {
  const given = { root: id('root'), parent: id('root'), until: 1000 };
  expect([999, 1000].map((at) => isOutOfTime({ tree: given }, at))).toEqual([false, true]);
  expect(isOutOfTime({}, 1000)).toBe(false);
});
