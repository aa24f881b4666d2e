import { expect, test } from 'vitest';
import { factLines, tableLines } from './output.ts';
import { columnsOf, cutColumns, padColumns } from './text-width.ts';

test.each([
  ['', 0],
  ['plain text', 10],
  ['Größe…', 6],
  ['日本語', 6],
  ['한국어', 6],
  ['ﾊﾝｶｸ', 4],
  ['e\u0301te\u0301', 3],
  ['a\u200bb', 2],
  ['👍', 2],
  ['👍🏽', 2],
  ['👨‍👩‍👧', 2],
  ['🇩🇪', 2],
  ['❤️', 2],
  ['✓ →', 3],
])('%j takes %i columns', (text, columns) => {
  expect(columnsOf(text)).toBe(columns);
});

test('a text is filled up and cut by columns, and no character is cut in two', () => {
  expect(padColumns('日本', 6)).toBe('日本  ');
  expect(padColumns('日本', 3)).toBe('日本');
  expect(cutColumns('日本語', 6)).toBe('日本語');
  expect(cutColumns('日本語', 5)).toBe('日本…');
  expect(cutColumns('日本語', 4)).toBe('日…');
  expect(cutColumns(`${'a'.repeat(5)}👨‍👩‍👧b`, 7)).toBe('aaaaa…');
});

test('columns of a table stand below each other whatever is written in them', () => {
  const rows = [
    ['日本語', 'x'],
    ['cafe\u0301', 'x'],
    ['🚀 go', 'x'],
    ['a\tb', 'x'],
  ];
  const lines = tableLines(['NAME', 'X'], rows);
  expect(new Set(lines.map((line) => columnsOf(line.slice(0, line.toLowerCase().lastIndexOf('x')))))).toEqual(
    new Set([8]),
  );
  expect(
    factLines([
      ['名前', 'a'],
      ['b', 'c'],
    ]),
  ).toEqual(['名前  a', 'b     c']);
});

test('a long cell is cut by its columns', () => {
  const [, cell = ''] = tableLines(['NAME'], [['漢'.repeat(60)]]);
  expect(cell).toBe(`${'漢'.repeat(39)}…`);
});
