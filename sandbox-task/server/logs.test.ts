import { expect, test } from 'vitest';
import { createLineSplitter, createLogRing } from './logs.ts';

test('the oldest lines are dropped above the limit', () => {
  const ring = createLogRing({ linesMax: 2, bytesMax: 10_000 }, () => 5);
  for (const text of ['a', 'b', 'c']) ring.add('stderr', text);
  expect(ring.after(0)).toEqual([
    { number: 2, at: 5, stream: 'stderr', text: 'b' },
    { number: 3, at: 5, stream: 'stderr', text: 'c' },
  ]);
  expect(ring.after(2).map(({ number }) => number)).toEqual([3]);
  expect(ring.after(9)).toEqual([]);
  expect(ring.last()).toBe(3);
});

test('the byte limit counts the answer, in which a control character has six bytes', () => {
  const ring = createLogRing({ linesMax: 1000, bytesMax: 65_536 });
  for (let line = 0; line < 100; line += 1) ring.add('stderr', '\u0001'.repeat(2000));
  expect(ring.after(0).map(({ number }) => number)).toEqual([96, 97, 98, 99, 100]);
  expect(Buffer.byteLength(JSON.stringify(ring.after(0)))).toBeLessThan(65_536);
});

test('the whole answer is within the byte limit, whatever the length of its lines', () => {
  for (let length = 80; length < 120; length += 1) {
    const ring = createLogRing({ linesMax: 1000, bytesMax: 2000 }, () => 5);
    for (let line = 0; line < 50; line += 1) ring.add('stderr', 'x'.repeat(length));
    expect(Buffer.byteLength(JSON.stringify({ lines: ring.after(0) }))).toBeLessThanOrEqual(2000);
  }
});

test('a long line is cut and marked', () => {
  const ring = createLogRing({ linesMax: 10, bytesMax: 10_000 });
  ring.add('lifecycle', 'x'.repeat(2000));
  ring.add('lifecycle', 'x'.repeat(2001));
  expect(ring.after(0).map(({ text }) => text)).toEqual([
    'x'.repeat(2000),
    `${'x'.repeat(2000)}... (truncated)`,
  ]);
});

const split = (pieces: readonly { readonly offset: number; readonly text: string }[]): string[] => {
  const lines: string[] = [];
  const splitter = createLineSplitter((line) => lines.push(line));
  for (const piece of pieces) splitter.push(piece);
  splitter.end();
  return lines;
};

test('lines are joined over pieces; a gap and the end close a line', () => {
  const pieces = [
    { offset: 0, text: 'one\ntw' },
    { offset: 6, text: 'ö' },
    { offset: 8, text: '\n\nopen' },
    { offset: 900, text: 'after a gap\nlast' },
  ];
  expect(split(pieces)).toEqual(['one', 'twö', '', 'open', 'after a gap', 'last']);
  expect(split([{ offset: 0, text: 'whole\n' }])).toEqual(['whole']);
});

test('a line goes on behind bytes that are no UTF-8', () => {
  // The program wrote one byte for the character that stands for it.
  const pieces = [
    { offset: 0, text: 'caf\ufffd' },
    { offset: 4, text: ' au lait\n' },
  ];
  expect(split(pieces)).toEqual(['caf\ufffd au lait']);
});

test('a line without an end is not held', () => {
  expect(split([{ offset: 0, text: 'x'.repeat(500_000) }])[0]).toHaveLength(2001);
});
