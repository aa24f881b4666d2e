import { expect, test } from 'vitest';
import { parseBoundedJson } from './bounded-json.ts';

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
