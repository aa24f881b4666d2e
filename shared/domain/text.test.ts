import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutLongestText, type JsonObject } from './json.ts';
import { cutBytes, cutJsonBytes, cutMiddle, firstCharacters, lastCharacters, utf8Bytes } from './text.ts';

/** Lone surrogates included. */
const anyText = fc.string({ unit: fc.constantFrom('a', 'é', '€', '😀', '\ud83d', '\ude00', '\u0000', '"') });
const encodedBytes = (text: string): number => Buffer.byteLength(text, 'utf8');
const isWhole = (cut: string, text: string): boolean =>
  cut.length === text.length ||
  !/[\ud800-\udbff]$/.test(cut) ||
  !/^[\udc00-\udfff]/.test(text.slice(cut.length));

describe('bytes', () => {
  test.each([
    ['', 0],
    ['a', 1],
    ['\u007f', 1],
    ['\u0080', 2],
    ['\u07ff', 2],
    ['\u0800', 3],
    ['\uffff', 3],
    ['😀', 4],
    ['\ud83d', 3],
    ['\ude00', 3],
  ])('%j has %i', (text, bytes) => {
    expect(utf8Bytes(text)).toBe(bytes);
  });

  test('any text is counted as the encoder writes it', () => {
    fc.assert(fc.property(anyText, (text) => utf8Bytes(text) === encodedBytes(text)));
  });
});

describe('a cut to bytes', () => {
  test.each([
    ['héllo', 0, ''],
    ['héllo', 2, 'h'],
    ['héllo', 3, 'hé'],
    ['a😀b', 4, 'a'],
    ['a😀b', 5, 'a😀'],
    ['a😀b', 6, 'a😀b'],
    ['\ud83dx', 2, ''],
    ['\ud83dx', 3, '\ud83d'],
  ])('of %j to %i gives %j', (text, bytesMax, expected) => {
    expect(cutBytes(text, bytesMax)).toBe(expected);
  });

  test('is a prefix of the text, within the limit, never splits a pair, and is as long as possible', () => {
    fc.assert(
      fc.property(anyText, fc.nat({ max: 30 }), (text, bytesMax) => {
        const cut = cutBytes(text, bytesMax);
        expect(text.startsWith(cut)).toBe(true);
        expect(encodedBytes(cut)).toBeLessThanOrEqual(bytesMax);
        expect(isWhole(cut, text)).toBe(true);
        const [next] = text.slice(cut.length);
        if (next !== undefined) expect(encodedBytes(cut + next)).toBeGreaterThan(bytesMax);
      }),
    );
  });
});

describe('a cut in the middle', () => {
  test('keeps the start and the end and says how much is missing', () => {
    const text = `${'a'.repeat(100)}${'b'.repeat(100)}`;
    expect(cutMiddle(text, 70)).toBe(
      `${'a'.repeat(10)}\n... (180 characters left out) ...\n${'b'.repeat(10)}`,
    );
    expect(cutMiddle(text, 200)).toBe(text);
  });

  test('never splits a pair', () => {
    const text = `${'a'.repeat(9)}${'😀'.repeat(60)}${'b'.repeat(9)}`;
    expect(cutMiddle(text, 70)).toBe(`${'a'.repeat(9)}\n... (120 characters left out) ...\n${'b'.repeat(9)}`);
  });

  test('is never longer than the limit, or than its own note', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 3000 }),
        fc.integer({ min: 0, max: 3000 }),
        (length, charactersMax) => {
          const cut = cutMiddle('😀'.repeat(length), charactersMax);
          expect(cut.length).toBeLessThanOrEqual(Math.max(50, charactersMax));
          expect(cut.isWellFormed()).toBe(true);
        },
      ),
    );
  });
});

describe('data with a limit', () => {
  const size = (data: JsonObject): number => encodedBytes(JSON.stringify(data));

  test('stays unchanged when it fits', () => {
    const data = { text: 'short', list: [1, 2] };
    expect(cutLongestText(data, 40)).toBe(data);
  });

  test('loses the end of its long texts, however deep, and keeps the short ones', () => {
    const data = { name: 'shell', content: [{ type: 'text', text: 'x'.repeat(5000) }], ms: 3 };
    const cut = cutLongestText(data, 1000);
    expect(cut).toEqual({
      name: 'shell',
      content: [{ type: 'text', text: 'x'.repeat(500) }],
      ms: 3,
      truncated: true,
    });
  });

  test('that is long without long texts loses the contents of its lists and objects, and keeps its fields', () => {
    const numbers = Array.from({ length: 5000 }, (_, index) => index);
    const data = { callId: 'c1', name: 'shell', args: { numbers }, list: numbers, at: 5 };
    expect(cutLongestText(data, 1000)).toEqual({
      callId: 'c1',
      name: 'shell',
      args: {},
      list: [],
      at: 5,
      truncated: true,
    });
  });

  test('with too many fields to list is only marked as cut', () => {
    const fields = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`field${index}`, index]));
    expect(cutLongestText(fields, 1000)).toEqual({ truncated: true });
  });

  test('always fits, and is whole or marked as cut', () => {
    const json = fc.dictionary(fc.string(), fc.jsonValue());
    const text = fc.oneof(json, fc.dictionary(fc.string(), fc.string({ minLength: 50, unit: 'binary' })));
    fc.assert(
      fc.property(text, fc.integer({ min: 20, max: 400 }), (data, bytesMax) => {
        const cut = cutLongestText(data as JsonObject, bytesMax);
        expect(size(cut)).toBeLessThanOrEqual(bytesMax);
        if (cut !== data) expect(cut['truncated']).toBe(true);
      }),
    );
  });
});

describe('a cut to bytes of JSON', () => {
  const jsonBytes = (text: string): number => encodedBytes(JSON.stringify(text)) - 2;
  const escaped = fc.string({
    unit: fc.constantFrom('a', '\n', '"', '\\', '\u0001', '\u007f', 'é', '😀', '\ud83d'),
  });

  test('is the longest start that fits', () => {
    fc.assert(
      fc.property(escaped, fc.nat({ max: 40 }), (text, bytesMax) => {
        const cut = cutJsonBytes(text, bytesMax);
        const [next = ''] = text.slice(cut.length);
        expect(text.startsWith(cut)).toBe(true);
        expect(jsonBytes(cut)).toBeLessThanOrEqual(bytesMax);
        expect(next === '' || jsonBytes(cut + next) > bytesMax).toBe(true);
        expect(isWhole(cut, text)).toBe(true);
      }),
    );
  });
});

describe('characters', () => {
  test('at an end of any text none is cut in two', () => {
    fc.assert(
      fc.property(anyText, fc.nat(40), (text, max) => {
        const [first, last] = [firstCharacters(text, max), lastCharacters(text, max)];
        expect(text.startsWith(first) && text.endsWith(last)).toBe(true);
        const least = Math.min(text.length, max) - 1;
        for (const { length } of [first, last]) expect(length >= least && length <= max).toBe(true);
        expect(isWhole(first, text)).toBe(true);
        expect(isWhole(text.slice(0, text.length - last.length), text)).toBe(true);
      }),
    );
  });
});
