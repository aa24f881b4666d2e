import { expect, test } from 'vitest';
import { type LogEntry, numberEntries, oldestKept } from './event-log.ts';

const entry = (kind: string): LogEntry => ({ type: 'system', data: { kind } });

test('entries are numbered one after another (T14)', () => {
  expect(numberEntries([entry('a'), entry('b')], { firstSeq: 41, at: 7 })).toEqual([
    { type: 'system', data: { kind: 'a' }, seq: 41, at: 7 },
    { type: 'system', data: { kind: 'b' }, seq: 42, at: 7 },
  ]);
  expect(numberEntries([], { firstSeq: 0, at: 7 })).toEqual([]);
});

test.each([
  [-1, 0],
  [0, 0],
  [999, 0],
  [1000, 1],
  [2500, 1501],
])('a log that ends at %i keeps what follows from %i', (lastSeq, oldest) => {
  expect(oldestKept(lastSeq)).toBe(oldest);
});
