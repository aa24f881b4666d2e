import { expect, test } from 'vitest';
import { declareAgain, redeclaredName } from './declare-again.ts';

test('the name belongs to this error only', () => {
  expect(redeclaredName(new SyntaxError("Identifier 'f' has already been declared"))).toBe('f');
  expect(redeclaredName(new SyntaxError('Unexpected token'))).toBe(undefined);
  expect(redeclaredName(new Error("Identifier 'f' has already been declared"))).toBe(undefined);
});

test.each([
  ['let f = 1; f()', ['var f = 1; f()', 'const f = 1; f()']],
  ['const f = 1', ['let f = 1', 'var f = 1']],
  ['var f = 1', ['let f = 1', 'const f = 1']],
  ['let f;', ['var f = undefined;', 'const f = undefined;']],
  ['let { f, g: h } = x', ['var { f, g: h } = x', 'const { f, g: h } = x']],
  ['const [a, f] = x', ['let [a, f] = x', 'var [a, f] = x']],
  [
    'function f() { return f }',
    [
      ';let f = function f() { return f }',
      ';var f = function f() { return f }',
      ';const f = function f() { return f }',
    ],
  ],
  [
    'async function* f() {}',
    [
      ';let f = async function* f() {}',
      ';var f = async function* f() {}',
      ';const f = async function* f() {}',
    ],
  ],
  ['class f {}', [';let f = class f {}', ';var f = class f {}', ';const f = class f {}']],
])('%j has other declarations', (code, others) => {
  expect(declareAgain(code, 'f')).toEqual(others);
});

test.each(['let f = 1; f = 2', 'let f = 1; f++', 'let f = 1; --f', 'let f = 1; f ??= 2'])(
  '%j needs a variable',
  (code) => {
    expect(declareAgain(code, 'f')).toEqual([code.replace('let', 'var')]);
  },
);

test('a comparison, an arrow and a property assign nothing', () => {
  expect(declareAgain('let f = 1; f == 2; f => 3; x.f = 4', 'f')).toHaveLength(2);
});

test.each(['let f = 1; let f = 2', 'let { f: g } = x', 'f()', '{ let f = 1 }', 'g = function f() {}', ''])(
  '%j declares no f, or two',
  (code) => {
    expect(declareAgain(code, 'f')).toEqual([]);
  },
);
