import { expect, test } from 'vitest';
import { asAssignment, redeclaredName } from './redeclaration.ts';

test('the name is that of the error, and of no other error', () => {
  expect(redeclaredName(new SyntaxError("Identifier 'f' has already been declared"))).toBe('f');
  expect(redeclaredName(new SyntaxError('Unexpected token'))).toBe(undefined);
  expect(redeclaredName(new Error("Identifier 'f' has already been declared"))).toBe(undefined);
});

test.each([
  ['let f = 1; f()', 'f = 1; f()'],
  ['let f;', 'f = undefined;'],
  ['function f() { return f }', ';f = function f() { return f }'],
  ['async function f() {}', ';f = async function f() {}'],
  ['function* f() {}', ';f = function* f() {}'],
  ['class f {}', ';f = class f {}'],
])('%j becomes %j', (code, script) => {
  expect(asAssignment(code, 'f')).toBe(script);
});

test.each(['let f = 1; let f = 2', 'let { f } = g', 'f()', '{ let f = 1 }', ''])(
  '%j has no assignment instead',
  (code) => {
    expect(asAssignment(code, 'f')).toBe(undefined);
  },
);
