import { expect, test } from 'vitest';
import { nearest } from './nearest.ts';

test.each([
  ['sesions', 'sessions'],
  ['chta', 'chat'],
  ['mpc', 'mcp'],
  ['banana', undefined],
])('%s is taken for %s', (word, meant) => {
  expect(nearest(word, ['chat', 'sessions', 'mcp', 'exec'])).toBe(meant);
});
