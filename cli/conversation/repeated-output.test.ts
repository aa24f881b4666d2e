import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeOutputFold, pointer } from './repeated-output.ts';

const shownBy = (pieces: readonly string[], outputs: readonly string[]): string => {
  const { take, flush } = makeOutputFold((output) => outputs.includes(output));
  return pieces.map(take).join('') + flush();
};

const answer = 'It gave 3 lines:\n\n```output\n1\n2\n3\n```\n\nAnd so on.';

test('output that was shown is pointed at', () => {
  expect(shownBy([answer], ['1\n2\n3'])).toBe(`It gave 3 lines:\n\n${pointer}\nAnd so on.`);
});

test('a fence may end the message', () => {
  expect(shownBy(['```output\n1\n2\n```'], ['1\n2'])).toBe(pointer);
});

test('a longer fence holds a shorter one', () => {
  const text = 'a\n````output\n```\nx\n```\n````\n';
  expect(shownBy([text], ['```\nx\n```'])).toBe(`a\n${pointer}`);
});

test.each([
  ['output that was not shown', answer],
  ['a fence without an end', 'a\n```output\n1\n2'],
  ['a fence of another language', 'a\n```python\n1\n2\n3\n```\n'],
  ['a fence within a line', 'a ```output\n1\n2\n3\n```\n'],
  ['a single backtick at the end', 'a `'],
])('%s stays', (_, text) => {
  expect(shownBy([text], ['none'])).toBe(text);
});

test('the pieces of a stream change nothing', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat({ max: answer.length }), { maxLength: 12 }),
      fc.boolean(),
      (cuts, isShown) => {
        const places = [0, ...cuts.toSorted((one, other) => one - other), answer.length];
        const pieces = places.slice(1).map((end, index) => answer.slice(places[index], end));
        const outputs = isShown ? ['1\n2\n3'] : [];
        expect(shownBy(pieces, outputs)).toBe(shownBy([answer], outputs));
      },
    ),
  );
});
