import { expect, test } from 'vitest';
import { retryAfterMs } from './retry-after.ts';

const now = Date.parse('2026-01-02T03:04:05Z');

test.each([
  ['0', 0],
  ['2', 2000],
  [7, 7000],
  ['1.5', 1500],
  ['Fri, 02 Jan 2026 03:04:35 GMT', 30_000],
  ['Fri, 02 Jan 2026 03:04:00 GMT', 0],
])('Retry-After %j is %j ms', (header, wait) => {
  expect(retryAfterMs(header, now)).toBe(wait);
});

test.each([['soon'], [''], [-5], ['-5'], [undefined], [null]])('Retry-After %j says nothing', (header) => {
  expect(retryAfterMs(header, now)).toBeUndefined();
});
