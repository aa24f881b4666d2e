/** Order of a table's rows. */
import { expect, test } from 'vitest';
import { nextOrder, orderFrom, orderText, sortedBy } from './sort-order.ts';

test('a head sorts upwards, downwards, and no more', () => {
  const up = nextOrder(undefined, 'cost');
  const down = nextOrder(up, 'cost');
  expect([up, down, nextOrder(down, 'cost'), nextOrder(down, 'name')]).toEqual([
    { key: 'cost', isDown: false },
    { key: 'cost', isDown: true },
    undefined,
    { key: 'name', isDown: false },
  ]);
});

test('an order survives the address', () => {
  for (const text of ['cost', '-cost']) expect(orderText(orderFrom(text))).toBe(text);
  for (const text of ['', '-', undefined, ['cost']]) expect(orderFrom(text)).toBe(undefined);
});

test('numbers go by size, names by their numbers, and rows without a value are last', () => {
  const rows = [{ v: 10 }, { v: undefined }, { v: 9 }, { v: null }];
  const of = ({ v }: { readonly v: number | null | undefined }) => v;
  expect(sortedBy(rows, of, { isDown: false }).map(of)).toEqual([9, 10, undefined, null]);
  expect(sortedBy(rows, of, { isDown: true }).map(of)).toEqual([10, 9, undefined, null]);
  expect(sortedBy(['run 10', 'Run 2'], (name) => name, { isDown: false })).toEqual(['Run 2', 'run 10']);
});
