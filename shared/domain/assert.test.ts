import { expect, test } from 'vitest';
import { assertNever, InvariantError, invariant } from './assert.ts';

test('a failed assertion stops the program with its message', () => {
  expect(() => invariant(true, 'fine')).not.toThrow();
  expect(() => invariant(false, 'it is broken')).toThrow(new InvariantError('it is broken'));
});

test('an undecided case is named', () => {
  expect(() => assertNever({ type: 'new' } as never)).toThrow('undecided case: {"type":"new"}');
});
