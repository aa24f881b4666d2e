import { expect, test } from 'vitest';
import { createLineReader, parseBoundedJson } from './message-lines.ts';

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

test('lines survive being cut at every byte and glued together', () => {
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

test('a line over the bound is said once and passed over; the next one is read', () => {
  expect(read(5, '12345\n123456\nnext\n')).toEqual(['12345', '(overlong)', 'next']);
  expect(read(5, '123', '456', '789', '\nok\n')).toEqual(['(overlong)', 'ok']);
});

const parse = (text: string) => parseBoundedJson(Buffer.from(text));

test('values are counted, and what stands in strings is not', () => {
  expect(parse(`[${'[],'.repeat(99_998)}[]]`)).toMatchObject({ value: expect.any(Array) });
  expect(parse(`[${'[],'.repeat(100_000)}[]]`)).toBe('too much');
  expect(parse(`{"a":"${'[{,:'.repeat(100_000)}"}`)).toEqual({ value: { a: '[{,:'.repeat(100_000) } });
});

test('a quote that is escaped does not end a string', () => {
  const commas = ','.repeat(300_000);
  expect(parse(`["\\"${commas}"]`)).toMatchObject({ value: [`"${commas}`] });
  expect(parse(`["\\\\",${'1,'.repeat(200_000)}1]`)).toBe('too much');
});

test('what is no JSON is told apart', () => {
  for (const text of ['', 'hello', '{"half": ', '"open']) expect(parse(text)).toBe('no JSON');
});
