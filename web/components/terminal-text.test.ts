import { expect, test } from 'vitest';
import { boundedText, terminalPieces } from './terminal-text.ts';

const esc = '\u001B';

test('colours become classes, and no other escape sequence is kept', () => {
  expect(terminalPieces(`${esc}[1;31mred${esc}[0m plain ${esc}[38;5;200mother${esc}[0m`)).toEqual([
    { text: 'red', classes: 'ansi-red bold' },
    { text: ' plain ', classes: '' },
    { text: 'other', classes: '' },
  ]);
});

test.each([
  [`${esc}]8;;javascript:alert(1)\u0007link${esc}]8;;\u0007`, 'link'],
  [`${esc}]0;title\u0007text`, 'text'],
  [`${esc}[2J${esc}[Hhome`, 'home'],
  [`a${esc}[5Ab`, 'ab'],
  ['50%\r100%', '100%'],
  ['50%\r', '50%'],
  ['a\r\nb', 'a\nb'],
  ['bell\u0007 back\b \u202Eturned', 'bell back turned'],
  [`${esc}(Bplain`, 'plain'],
  ['<img onerror=x>', '<img onerror=x>'],
])('%j is shown as %j', (output, text) => {
  expect(
    terminalPieces(output)
      .map((piece) => piece.text)
      .join(''),
  ).toBe(text);
});

test('hidden text is shown', () => {
  expect(terminalPieces(`${esc}[8msecret${esc}[0m`)).toEqual([{ text: 'secret', classes: '' }]);
});

test('a long line is cut, and of many lines the end is kept', () => {
  expect(boundedText('x'.repeat(2003)).text).toBe(`${'x'.repeat(2000)} […3 more characters]`);
  const lines = boundedText(Array.from({ length: 2500 }, (_, line) => `line ${line}`).join('\n'));
  expect(lines.text.split('\n').length).toBe(2000);
  expect(lines.text.endsWith('line 2499')).toBe(true);
  expect(boundedText('short')).toEqual({ text: 'short', isCut: false });
});

test('five megabytes without a line break are cut before they are read', () => {
  const { text, isCut } = boundedText('x'.repeat(5_000_000));
  expect(isCut).toBe(true);
  expect(terminalPieces(text).flat().length).toBeLessThan(10);
});
