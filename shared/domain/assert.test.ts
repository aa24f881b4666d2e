import { expect, test } from 'vitest';
import { assertNever, InvariantError, invariant } from './assert.ts';

test('a statement that does not hold stops the program with its words', () => {
  expect(() => invariant(true, 'fine')).not.toThrow();
  expect(() => invariant(false, 'it is broken')).toThrow(new InvariantError('it is broken'));
});

test('a case that nobody decided is named', () => {
  expect(() => assertNever({ type: 'new' } as never)).toThrow('undecided case: {"type":"new"}');
});
