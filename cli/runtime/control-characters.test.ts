import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeStripper, stripControls, toJson } from './control-characters.ts';

describe('foreign text on a terminal', () => {
  test.each([
    ['plain ü\ttext\n', 'plain ü\ttext\n'],
    ['\x1b[31mred\x1b[0m', 'red'],
    ['a\x1b]0;title\x07b', 'ab'],
    ['a\x1b]52;c;c3RvbGVu\x1b\\b', 'ab'],
    ['a\x9b2Jb\x9d0;t\x9cc', 'abc'],
    ['a\x1b(Bb\x1bcc', 'abc'],
    ['shown\x1b]0;hidden\nnext line', 'shown\nnext line'],
    ['over\rwritten\r\nend', 'over\nwritten\nend'],
    ['a\b\b\x00\x7fb', 'ab'],
    ['abc\u202etxt.exe\u2066', 'abctxt.exe'],
  ])('%j is printed as %j', (text, printed) => {
    expect(stripControls(text)).toBe(printed);
  });

  test('loses its control characters wherever it is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary-ascii' })), (pieces) => {
        const strip = makeStripper();
        const whole = pieces.map(strip).join('');
        expect(whole).toBe(stripControls(pieces.join('')));
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
        expect(whole).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
      }),
    );
  });
});

test('JSON for a program reaches a terminal without control characters and is the same value', () => {
  const value = { text: '\x1b[31m\x9b2J\u2028\u3164\u{e0001}⟦é' };
  expect(toJson(value)).toBe('{"text":"\\u001b[31m\\u009b2J\\u2028\\u3164\\udb40\\udc01\\u27e6é"}');
  expect(JSON.parse(toJson(value))).toEqual(value);
});
