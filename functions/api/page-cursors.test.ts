/** A page after something that is no `next` is refused by every list alike. */
import { expect, test } from 'vitest';
import { declaredRoutes } from './openapi/document.ts';

const lists = declaredRoutes().flatMap(({ method, path, contract }) => {
  const after = contract.query?.shape['after'];
  return after === undefined ? [] : [{ method, path, after }];
});

test('there are lists with pages', () => {
  expect(lists.length).toBeGreaterThan(8);
});

test.each(lists)('$method $path', ({ after }) => {
  const takes = (text: string | undefined): boolean => after.safeParse(text).success;
  expect(['x', '0', '#', '170000000000#a'].filter(takes)).toEqual([]);
  expect(['1700000000000#0a1b2c3d', '2026-01-02T03:04:05.678Z#a', undefined].filter(takes)).toHaveLength(3);
});
