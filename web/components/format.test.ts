import { expect, test } from 'vitest';
import { byteSize, duration, money, pricedLabel, relativeTime, spending } from './format.ts';

test.each([
  [-5_000, 'now'],
  [-45_000, '45 s ago'],
  [-125_000, '2 min ago'],
  [-7_300_000, '2 h ago'],
  [-3 * 86_400_000, '3 d ago'],
  [90_000, 'in 1 min'],
  [2_000, 'now'],
  [26 * 3_600_000, 'in 1 d'],
  [46 * 3_600_000, 'in 2 d'],
])('a time %d ms away is %s', (away, words) => {
  expect(relativeTime(1_000_000_000_000 + away, 1_000_000_000_000)).toBe(words);
});

test('durations, sizes and amounts keep their significant digits', () => {
  expect([412, 4120, 41_200, 412_000, 41_200_000].map(duration)).toEqual([
    '412 ms',
    '4.1 s',
    '41 s',
    '6 min 52 s',
    '11 h 27 min',
  ]);
  expect([0, 1023, 1536, 5_000_000, 3_000_000_000].map(byteSize)).toEqual([
    '0 B',
    '1023 B',
    '1.5 KB',
    '4.8 MB',
    '2.8 GB',
  ]);
  expect([0, 0.0042, 1.234].map(money)).toEqual(['$0.00', '$0.0042', '$1.23']);
});

test('models are named with their prices, and a session with its limit', () => {
  expect(pricedLabel('Large', { input: 3, output: 15 })).toBe('Large · $3 in, $15 out');
  expect(pricedLabel('Small', { input: 0.25, output: 1.125 })).toBe('Small · $0.25 in, $1.125 out');
  expect(pricedLabel('Own', { input: 0, output: 0 })).toBe('Own · free');
  expect(pricedLabel('New', undefined)).toBe('New');
  expect([spending(0.5, 5), spending(0.5, undefined)]).toEqual(['$0.50 of $5.00', '$0.50']);
});
