import { expect, test } from 'vitest';
import { inTreeOrder } from './tree-order.ts';

const session = (id: string, parent?: string) => ({ id, ...(parent === undefined ? {} : { parent }) });

test('each session is followed by those below it, however they came', () => {
  const rows = inTreeOrder([
    session('a'),
    session('b', 'a'),
    session('c', 'a'),
    session('b1', 'b'),
    session('c1', 'c'),
    session('b2', 'b'),
  ]);
  expect(rows.map(({ session: { id }, level, below }) => [id, level, below])).toEqual([
    ['a', 0, 5],
    ['b', 1, 2],
    ['b1', 2, 0],
    ['b2', 2, 0],
    ['c', 1, 1],
    ['c1', 2, 0],
  ]);
});

test('a child that is shown as the top has its own parent above it', () => {
  expect(inTreeOrder([session('b', 'a'), session('b1', 'b')]).map(({ level }) => level)).toEqual([0, 1]);
  expect(inTreeOrder([])).toEqual([]);
});
