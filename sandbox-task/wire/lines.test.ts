import { expect, test } from 'vitest';
import { createLineReader } from './lines.ts';

const read = (bytesMax: number, ...chunks: readonly string[]): readonly string[] => {
  const seen: string[] = [];
  const reader = createLineReader({
    bytesMax,
    onLine: (line) => seen.push(line.toString()),
    onOverlong: () => seen.push('(overlong)'),
  });
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  return seen;
};

test('lines are decoded however they are split', () => {
  const text = 'one\n\nzwei ü\nthree\nopen';
  expect(read(100, text)).toEqual(['one', 'zwei ü', 'three']);
  const seen: string[] = [];
  const reader = createLineReader({
    bytesMax: 100,
    onLine: (line) => seen.push(line.toString()),
    onOverlong: () => undefined,
  });
  for (const byte of Buffer.from(text)) reader.push(Buffer.from([byte]));
  expect(seen).toEqual(['one', 'zwei ü', 'three']);
});

test('a line over the limit is reported once and skipped; the next one is read', () => {
  expect(read(5, '12345\n123456\nnext\n')).toEqual(['12345', '(overlong)', 'next']);
  expect(read(5, '123', '456', '789', '\nok\n')).toEqual(['(overlong)', 'ok']);
});
