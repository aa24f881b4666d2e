/** The number of warm sandboxes of a machine. */
import { expect, test } from 'vitest';
import { withPool } from './warm-pool.ts';

const gigabyte = 1024 ** 3;

test('a machine with memory to spare keeps one for executions and one for agents', () => {
  expect(withPool({ A: 'b' }, 8 * gigabyte)).toEqual({ A: 'b', POOL_SIZE: '2' });
  expect(withPool({ POOL_SIZE: '' }, 8 * gigabyte)).toEqual({ POOL_SIZE: '2' });
});

test('a small machine keeps none', () => {
  expect(withPool({}, 2 * gigabyte)).toEqual({ POOL_SIZE: '0' });
});

test('the number that the operator sets stands', () => {
  for (const size of ['0', '7']) expect(withPool({ POOL_SIZE: size }, gigabyte)).toEqual({ POOL_SIZE: size });
});
