/** Figures of a bench: the middle, the ratio, the verdict, and what changed since a former run. */
import { expect, test } from 'vitest';
import {
  compareRuns,
  decodeRun,
  type Figure,
  figureRow,
  median,
  type Run,
  ratioOf,
  verdictOf,
  written,
} from './figures.ts';

const beside = (value: number, before: number, after: number): Figure => ({
  ...{ name: 'a command', unit: 'ms', value },
  floor: { name: 'bare', before, after },
});

test.each([
  [[3, 1, 2], 2],
  [[4, 1, 3, 2], 2.5],
  [[7], 7],
])('the middle of %j is %d', (values, expected) => {
  expect(median(values)).toBe(expected);
});

test('the middle of nothing is no number', () => {
  expect(median([])).toBeNaN();
});

test('a ratio is to the mean of the floor before and after', () => {
  expect(ratioOf(beside(60, 10, 20))).toBe(4);
  expect(ratioOf({ name: 'memory', unit: 'MB', value: 60 })).toBeUndefined();
  expect(ratioOf(beside(60, 0, 0))).toBeUndefined();
});

test.each([
  ['ratio', 'at most', 4, 'met'],
  ['ratio', 'at most', 3.9, 'MISSED'],
  ['ratio', 'at least', 4, 'met'],
  ['ratio', 'at least', 4.1, 'MISSED'],
  ['value', 'at most', 60, 'met'],
  ['value', 'at most', 59, 'MISSED'],
] as const)('60 beside 10 and 20, the %s %s %d: %s', (...row) => {
  const [of, is, bound, expected] = row;
  expect(verdictOf({ ...beside(60, 10, 20), target: { of, is, bound } })).toBe(expected);
});

test('a figure without a target has no verdict, and one without the floor of its target misses it', () => {
  expect(verdictOf(beside(60, 10, 20))).toBe('');
  const wanted = { of: 'ratio', is: 'at most', bound: 4 } as const;
  expect(verdictOf({ name: 'a command', unit: 'ms', value: 1, target: wanted })).toBe('MISSED');
});

const runOf = (...figures: Figure[]): Run => ({
  at: '2026-11-23T10:00:00.000Z',
  machine: { cpus: 2, node: 'v24.21.0', loadBefore: 1, loadAfter: 2 },
  figures,
});
const memory = (value: number): Figure => ({ name: 'memory', unit: 'MB', value });

test('a comparison is of ratios, and of values where there is no floor', () => {
  const former = runOf(beside(60, 10, 20), memory(200), { name: 'gone', unit: 'ms', value: 1 });
  const now = runOf(beside(60, 20, 40), memory(210), { name: 'new', unit: 'ms', value: 1 });
  expect(compareRuns(former, now)).toEqual([
    { name: 'a command', before: 4, now: 2, factor: 0.5, is: 'lower' },
    { name: 'memory', before: 200, now: 210, factor: 1.05, is: 'alike' },
  ]);
  expect(compareRuns(runOf(memory(100)), runOf(memory(200)))[0]?.is).toBe('higher');
});

test('a ratio is not compared with a value', () => {
  expect(compareRuns(runOf({ name: 'a command', unit: 'ms', value: 5 }), runOf(beside(60, 10, 20)))).toEqual(
    [],
  );
});

test('a run is read as it was written, and nothing else is read as one', () => {
  const written = runOf({
    ...beside(60, 10, 20),
    target: { of: 'ratio', is: 'at most', bound: 4, from: 'the plan' },
  });
  expect(decodeRun(JSON.stringify(written))).toEqual(written);
  expect(() => decodeRun('{"figures": []}')).toThrow('machine');
});

test('a row shows the floor twice, the ratio, the target and the verdict', () => {
  const target = { of: 'ratio', is: 'at most', bound: 3, from: 'the plan' } as const;
  expect(figureRow({ ...beside(60, 10, 20), target })).toEqual([
    ...['a command', 'ms', '60.0', '10.0', '20.0', '4.00', 'at most 3.00 times (the plan)', 'MISSED'],
  ]);
  expect(figureRow(memory(212.4))).toEqual(['memory', 'MB', '212', '', '', '', '', '']);
});

test('a number without an end is written as unknown', () => {
  expect(written(Number.NaN)).toBe('?');
});
