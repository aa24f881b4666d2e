import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isAnswer, keyTyped, nothingTyped, type Typing } from './questions.ts';

type Key = { readonly at: number; readonly isFirst?: boolean };

const decides = (keys: readonly Key[], askedAt: number): boolean => {
  const typing = keys.reduce<Typing>(
    (state, { at, isFirst = false }) => keyTyped(state, { at, isFirst }),
    nothingTyped,
  );
  return isAnswer(typing, { askedAt, at: keys.at(-1)?.at ?? 0 });
};
const line = (...times: readonly number[]): readonly Key[] =>
  times.map((at, index) => ({ at, isFirst: index === 0 }));

test.each([
  ['a line after a second decides', line(6000, 6100), 5000, true],
  ['one that ends sooner does not', line(5600, 5900), 5000, false],
  ['one begun at once may decide, if it ends late enough', line(5200, 6000), 5000, true],
  ['the rest of a sentence does not', [...line(4600, 4900), ...line(5100, 7000)], 5000, false],
  ['nor when its writer was slow', [...line(4000, 4300), ...line(5100, 9000)], 5000, false],
  [
    'after a pause a new line does',
    [...line(4600, 4900), ...line(5100, 5200), ...line(6200, 6300)],
    5000,
    true,
  ],
  [
    'a line that was emptied and begun again counts from there',
    [...line(5100, 5200), { at: 6300, isFirst: true }, { at: 6400 }],
    5000,
    true,
  ],
  ['no line at all decides nothing', [], 0, false],
])('%s', (_title, keys, ...[askedAt, isDeciding]) => {
  expect(decides(keys, askedAt)).toBe(isDeciding);
});

test('typing without a pause decides nothing, whenever the question appears', () => {
  const gaps = fc.array(fc.tuple(fc.integer({ min: 0, max: 999 }), fc.boolean()), {
    minLength: 2,
    maxLength: 50,
  });
  fc.assert(
    fc.property(gaps, fc.nat(50_000), (typed, askedAt) => {
      let at = 0;
      const keys = typed.map(([gap, isFirst], index) => {
        at += gap;
        return { at, isFirst: isFirst && index > 0 };
      });
      expect(decides(keys, askedAt)).toBe(false);
    }),
  );
});
