import fc from 'fast-check';
import { expect, test } from 'vitest';
import { replaceHidden, visibleLine, visibleText } from './visible-text.ts';

// biome-ignore format: a table is read by column
test.each([
  ['null', '\u0000', '⟦U+0000⟧'],
  ['bell', '\u0007', '⟦U+0007⟧'],
  ['backspace', '\u0008', '⟦U+0008⟧'],
  ['line tabulation', '\u000b', '⟦U+000B⟧'],
  ['form feed', '\u000c', '⟦U+000C⟧'],
  ['carriage return', '\u000d', '⟦U+000D⟧'],
  ['escape', '\u001b', '⟦U+001B⟧'],
  ['delete', '\u007f', '⟦U+007F⟧'],
  ['next line', '\u0085', '⟦U+0085⟧'],
  ['control sequence introducer', '\u009b', '⟦U+009B⟧'],
  ['no-break space', '\u00a0', '⟦U+00A0⟧'],
  ['soft hyphen', '\u00ad', '⟦U+00AD⟧'],
  ['combining grapheme joiner', '\u034f', '⟦U+034F⟧'],
  ['arabic letter mark', '\u061c', '⟦U+061C⟧'],
  ['syriac abbreviation mark', '\u070f', '⟦U+070F⟧'],
  ['hangul choseong filler', '\u115f', '⟦U+115F⟧'],
  ['hangul jungseong filler', '\u1160', '⟦U+1160⟧'],
  ['hangul jongseong kiyeok', '\u11a8', '⟦U+11A8⟧'],
  ['ogham space mark', '\u1680', '⟦U+1680⟧'],
  ['khmer vowel inherent aq', '\u17b4', '⟦U+17B4⟧'],
  ['khmer vowel inherent aa', '\u17b5', '⟦U+17B5⟧'],
  ['mongolian free variation selector one', '\u180b', '⟦U+180B⟧'],
  ['mongolian free variation selector two', '\u180c', '⟦U+180C⟧'],
  ['mongolian free variation selector three', '\u180d', '⟦U+180D⟧'],
  ['mongolian vowel separator', '\u180e', '⟦U+180E⟧'],
  ['mongolian free variation selector four', '\u180f', '⟦U+180F⟧'],
  ['en quad', '\u2000', '⟦U+2000⟧'],
  ['em quad', '\u2001', '⟦U+2001⟧'],
  ['en space', '\u2002', '⟦U+2002⟧'],
  ['em space', '\u2003', '⟦U+2003⟧'],
  ['three-per-em space', '\u2004', '⟦U+2004⟧'],
  ['four-per-em space', '\u2005', '⟦U+2005⟧'],
  ['six-per-em space', '\u2006', '⟦U+2006⟧'],
  ['figure space', '\u2007', '⟦U+2007⟧'],
  ['punctuation space', '\u2008', '⟦U+2008⟧'],
  ['thin space', '\u2009', '⟦U+2009⟧'],
  ['hair space', '\u200a', '⟦U+200A⟧'],
  ['zero width space', '\u200b', '⟦U+200B⟧'],
  ['zero width non-joiner', '\u200c', '⟦U+200C⟧'],
  ['zero width joiner', '\u200d', '⟦U+200D⟧'],
  ['left-to-right mark', '\u200e', '⟦U+200E⟧'],
  ['right-to-left mark', '\u200f', '⟦U+200F⟧'],
  ['line separator', '\u2028', '⟦U+2028⟧'],
  ['paragraph separator', '\u2029', '⟦U+2029⟧'],
  ['left-to-right embedding', '\u202a', '⟦U+202A⟧'],
  ['right-to-left embedding', '\u202b', '⟦U+202B⟧'],
  ['pop directional formatting', '\u202c', '⟦U+202C⟧'],
  ['left-to-right override', '\u202d', '⟦U+202D⟧'],
  ['right-to-left override', '\u202e', '⟦U+202E⟧'],
  ['narrow no-break space', '\u202f', '⟦U+202F⟧'],
  ['medium mathematical space', '\u205f', '⟦U+205F⟧'],
  ['word joiner', '\u2060', '⟦U+2060⟧'],
  ['function application', '\u2061', '⟦U+2061⟧'],
  ['invisible times', '\u2062', '⟦U+2062⟧'],
  ['invisible separator', '\u2063', '⟦U+2063⟧'],
  ['invisible plus', '\u2064', '⟦U+2064⟧'],
  ['left-to-right isolate', '\u2066', '⟦U+2066⟧'],
  ['right-to-left isolate', '\u2067', '⟦U+2067⟧'],
  ['first strong isolate', '\u2068', '⟦U+2068⟧'],
  ['pop directional isolate', '\u2069', '⟦U+2069⟧'],
  ['inhibit symmetric swapping', '\u206a', '⟦U+206A⟧'],
  ['activate symmetric swapping', '\u206b', '⟦U+206B⟧'],
  ['inhibit arabic form shaping', '\u206c', '⟦U+206C⟧'],
  ['activate arabic form shaping', '\u206d', '⟦U+206D⟧'],
  ['national digit shapes', '\u206e', '⟦U+206E⟧'],
  ['nominal digit shapes', '\u206f', '⟦U+206F⟧'],
  ['braille pattern blank', '\u2800', '⟦U+2800⟧'],
  ['ideographic space', '\u3000', '⟦U+3000⟧'],
  ['hangul filler', '\u3164', '⟦U+3164⟧'],
  ['variation selector-1', '\ufe00', '⟦U+FE00⟧'],
  ['variation selector-16', '\ufe0f', '⟦U+FE0F⟧'],
  ['zero width no-break space', '\ufeff', '⟦U+FEFF⟧'],
  ['halfwidth hangul filler', '\uffa0', '⟦U+FFA0⟧'],
  ['interlinear annotation anchor', '\ufff9', '⟦U+FFF9⟧'],
  ['interlinear annotation separator', '\ufffa', '⟦U+FFFA⟧'],
  ['interlinear annotation terminator', '\ufffb', '⟦U+FFFB⟧'],
  ['object replacement character', '\ufffc', '⟦U+FFFC⟧'],
  ['egyptian hieroglyph full blank', '\u{13441}', '⟦U+13441⟧'],
  ['egyptian hieroglyph half blank', '\u{13442}', '⟦U+13442⟧'],
  ['khitan small script filler', '\u{16fe4}', '⟦U+16FE4⟧'],
  ['shorthand format letter overlap', '\u{1bca0}', '⟦U+1BCA0⟧'],
  ['musical symbol null notehead', '\u{1d159}', '⟦U+1D159⟧'],
  ['musical symbol begin beam', '\u{1d173}', '⟦U+1D173⟧'],
  ['musical symbol end phrase', '\u{1d17a}', '⟦U+1D17A⟧'],
  ['language tag', '\u{e0001}', '⟦U+E0001⟧'],
  ['tag space', '\u{e0020}', '⟦U+E0020⟧'],
  ['cancel tag', '\u{e007f}', '⟦U+E007F⟧'],
  ['variation selector-17', '\u{e0100}', '⟦U+E0100⟧'],
  ['variation selector-256', '\u{e01ef}', '⟦U+E01EF⟧'],
  ['half a surrogate pair', '\ud800', '⟦U+D800⟧'],
  ['the other half', '\udc00', '⟦U+DC00⟧'],
  ['private use', '\ue000', '⟦U+E000⟧'],
  ['private use, plane 16', '\u{10fffd}', '⟦U+10FFFD⟧'],
  ['unassigned', '\u0378', '⟦U+0378⟧'],
  ['noncharacter', '\ufdd0', '⟦U+FDD0⟧'],
  ['noncharacter at the end of a plane', '\uffff', '⟦U+FFFF⟧'],
])('%s is shown by its number', (_name, character, shown) => {
  expect(visibleText(`a${character}b`)).toBe(`a${shown}b`);
  expect(visibleText(character)).toBe(shown);
});

test('visible characters stay unchanged', () => {
  const texts = [
    'ls -l | grep "x y" > out.txt\n\tif true; then :; fi\n',
    'grüße, ελληνικά, Кириллица, 世界, 日本語, 한국어, 👋 👍🏽 🇨🇭',
    'e\u0301 a\u0302\u0323 (composed), й',
    'עִבְרִית, العَرَبِيَّة, हिन्दी, ไทยที่, မြန်မာကြော်, ខ្មែរ',
    '[U+200B], <U+200B>, «U+200B», \\u200b',
  ];
  for (const text of texts) expect(visibleText(text)).toBe(text);
});

test('the marker cannot be imitated', () => {
  expect(visibleText('a⟦U+200B⟧b')).toBe('a⟦U+27E6⟧U+200B⟦U+27E7⟧b');
  expect(visibleText('a〚U+200B〛b')).toBe('a⟦U+301A⟧U+200B⟦U+301B⟧b');
});

test.each([
  ['at the start of a text', '\u0301a', '⟦U+0301⟧a'],
  ['at the start of a line', 'a\n\u0301b', 'a\n⟦U+0301⟧b'],
  ['on a space', 'a \u0301b', 'a ⟦U+0301⟧b'],
  ['on an operator', 'a |\u0338 b', 'a |⟦U+0338⟧ b'],
  ['on a digit', '1\u20e3', '1⟦U+20E3⟧'],
  ['on what is shown by its number', 'a\u3164\u0301', 'a⟦U+3164⟧⟦U+0301⟧'],
  ['after one that is shown by its number', 'a\u0301\u034f\u0302', 'a\u0301⟦U+034F⟧⟦U+0302⟧'],
  ['of another script on a letter of commands', 'rm\u17d2 x\u1039', 'rm⟦U+17D2⟧ x⟦U+1039⟧'],
  ['of more than four', `a${'\u0301'.repeat(6)}`, `a${'\u0301'.repeat(4)}⟦U+0301⟧⟦U+0301⟧`],
])('a combining mark %s is shown by its number', (_place, text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

test('a name or a title has one line, whatever its content', () => {
  expect(visibleLine('a\tb\nc\u200bd⟦')).toBe('a⟦U+0009⟧b⟦U+000A⟧c⟦U+200B⟧d⟦U+27E6⟧');
});

test('a caller may show hidden characters in its own form', () => {
  expect(replaceHidden('a\u{e0001}\u200bb⟦', (number) => `<${number}>`)).toBe('a<917505><8203>b<10214>');
});

const marker = /⟦U\+([0-9A-F]{4,6})⟧/g;
const toldBack = (shown: string): string =>
  shown.replace(marker, (_all, digits) => String.fromCodePoint(Number.parseInt(digits, 16)));

/** Texts of every kind of character, and of those that matter here more often than chance would have it. */
const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
      fc.constantFrom(
        '⟦',
        '⟧',
        'U+200B',
        '⟦U+200B⟧',
        '⟦U+',
        '\u200b',
        '\u3164',
        '\u0301',
        '\u17d2',
        '\u1161',
        'a',
        'ក',
        ' ',
        '\n',
      ),
    ),
    { maxLength: 40 },
  )
  .map((pieces) => pieces.join(''));

test('every text can be recovered from its shown form, so no two look alike', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(toldBack(visibleText(text))).toBe(text);
    }),
    { numRuns: 2000 },
  );
});

test('no hidden character is left, and no combining mark except on a letter', () => {
  const isHidden = /(?![\t\n ])[\p{C}\p{Z}\p{DI}\u2800\u3164\ufffc]/u;
  const isStrayMark = /(?:^|[^\p{L}\p{M}])\p{M}|\p{M}{5}/u;
  fc.assert(
    fc.property(anyText, (text) => {
      const shown = visibleText(text);
      expect(shown).not.toMatch(isHidden);
      expect(shown).not.toMatch(isStrayMark);
      expect(shown.replaceAll(marker, '')).not.toMatch(/[⟦⟧〚〛]/);
    }),
    { numRuns: 2000 },
  );
});

/** Planes 0 to 3 and 14 have characters; the others have private use or nothing, one like the next. */
const stepAt = (number: number): number => ([0, 1, 2, 3, 14].includes(number >> 16) ? 1 : 97);

test('every code point is recovered, alone and on a letter', () => {
  for (let number = 0; number <= 0x10ffff; number += stepAt(number)) {
    const character = String.fromCodePoint(number);
    const text = `a${character}b${character}`;
    if (toldBack(visibleText(text)) !== text) expect.fail(`U+${number.toString(16)} is lost`);
  }
});
