/** Output of a call that has no result: the newest of it is kept and told. */
import { expect, test } from 'vitest';
import { printedCharactersMax } from '../limits.ts';
import { tellPrinted, withPrinted } from './printed.ts';

test('the newest output is kept, in whole characters', () => {
  expect(withPrinted('one\n', 'two\n')).toBe('one\ntwo\n');
  const long = withPrinted('😀'.repeat(printedCharactersMax), 'x');
  expect([long.length, long.slice(0, 2), long.at(-1)]).toEqual([printedCharactersMax - 1, '😀', 'x']);
});

test('a sentence tells what was printed, and whether it is the end only', () => {
  expect(tellPrinted('it was lost', undefined)).toBe('it was lost');
  expect(tellPrinted('it was lost', '')).toBe('it was lost');
  expect(tellPrinted('it was lost', 'one\n')).toBe('it was lost; it had printed:\none\n');
  expect(tellPrinted('It was lost.', 'one\n')).toBe('It was lost. It had printed:\none\n');
  expect(tellPrinted('it was lost', withPrinted('', 'x'.repeat(printedCharactersMax + 1)))).toContain(
    '; it had printed, at the end:\nxxx',
  );
});
