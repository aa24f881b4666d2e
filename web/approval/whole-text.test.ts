import fc from 'fast-check';
import { expect, test } from 'vitest';
import { blocksOf, isPlain } from './whole-text.vue';

const textOf = (text: string): string =>
  [...blocksOf(text)]
    .flat()
    .map((part) => part.text)
    .join('');

const character = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  fc.constantFrom('\u200B', '\u202E', '\uE000', '\uE001', '200b', '\t', '\n', '\r', '\u2800', '\u0301', '⟦'),
);

test('no character of a text is left out, whatever its content', () => {
  fc.assert(
    fc.property(fc.array(character, { maxLength: 300 }), (characters) => {
      const text = characters.join('');
      expect(textOf(text)).toBe(text);
    }),
  );
});

test('invisible characters, tabs and line ends are parts of their own', () => {
  expect([...blocksOf('a\u200Bb\tc\n')]).toEqual([
    [
      { kind: 'text', text: 'a', scope: '' },
      { kind: 'hidden', text: '\u200B', scope: '' },
      { kind: 'text', text: 'b', scope: '' },
      { kind: 'tab', text: '\t', scope: '' },
      { kind: 'text', text: 'c', scope: '' },
      { kind: 'line-end', text: '\n', scope: '' },
    ],
  ]);
});

test('a line of a megabyte, and a megabyte of lines, are many blocks, and whole', () => {
  for (const text of ['x'.repeat(1_048_576), 'x\n'.repeat(524_288), '👋'.repeat(262_144)]) {
    const blocks = [...blocksOf(text)];
    expect(blocks.length).toBeGreaterThan(100);
    for (const block of blocks)
      expect(block.reduce((sum, part) => sum + part.text.length, 0)).toBeLessThan(6002);
    expect(textOf(text)).toBe(text);
  }
});

test('colours are used only when they keep the same text, and hide none of it', () => {
  const pieces = [
    { text: 'if', scope: 'keyword' },
    { text: ' x', scope: '' },
  ];
  expect([...blocksOf('if x', pieces)]).toEqual([
    [
      { kind: 'text', text: 'if', scope: 'keyword' },
      { kind: 'text', text: ' x', scope: '' },
    ],
  ]);
  expect([...blocksOf('if y', pieces)]).toEqual([[{ kind: 'text', text: 'if y', scope: '' }]]);
  expect(isPlain('if x')).toBe(true);
  expect(isPlain('if\u00A0x')).toBe(false);
});
