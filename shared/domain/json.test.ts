import { expect, test } from 'vitest';
import { isWellFormed, isWithin } from './json.ts';

const bounds = { bytesMax: 20, depthMax: 2 };

test.each([[1], [null], ['x'.repeat(18)], [[[1]]], [{ a: { b: 1 } }], [{ a: [] }]])(
  '%j is within the limit',
  (value) => {
    expect(isWithin(value, bounds)).toBe(true);
  },
);

test.each([['x'.repeat(19)], ['ä'.repeat(10)], [[[[1]]]], [{ a: { b: { c: 1 } } }], [{ a: 'x'.repeat(20) }]])(
  '%j is not',
  (value) => {
    expect(isWithin(value, bounds)).toBe(false);
  },
);

test('a value nested a hundred thousand times is checked without a deep stack', () => {
  const deep: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
  expect(isWithin(deep, { bytesMax: 1_000_000, depthMax: 64 })).toBe(false);
  expect(isWellFormed(deep)).toBe(true);
});

test.each([
  ['a\ud83d\ude00', true],
  [{ a: [{ b: '\u{1F600}' }] }, true],
  [{ a: [{ b: '\ud83d' }] }, false],
  [{ '\udc00': 1 }, false],
  [['a', 'b\ud800'], false],
])('half of a character is found wherever it is: %j', (value, expected) => {
  expect(isWellFormed(value)).toBe(expected);
});
