import { expect, test } from 'vitest';
import { asAssignment, redeclaredName, toScript } from './rewrite-code.ts';

test.each([
  ['import "x"', 'await __sallyportImport("x")'],
  ['import fs from "node:fs"', 'let { default: fs } = await __sallyportImport("node:fs")'],
  ['import * as fs from "fs"; fs.x()', 'let fs = await __sallyportImport("fs"); fs.x()'],
  ['import a, * as b from "c"', 'let b = await __sallyportImport("c"), a = b.default'],
  [
    'import d, {\n  a as b,\n  c,\n} from "x"\nb()',
    'let { default: d, a : b , c , } = await __sallyportImport("x")\n\n\n\nb()',
  ],
  ['import {} from "x"', 'let {  } = await __sallyportImport("x")'],
  [
    'import j from "./j.json" with { type: "json" }',
    'let { default: j } = await __sallyportImport("./j.json", { with: { type : "json" } })',
  ],
  ['const m = await import("m")', 'let m = await __sallyportImport("m")'],
  ['f(import.meta.url)', 'f(__sallyportMeta.url)'],
  ['export const a = 1', ' let a = 1'],
  ['export default function f() {}', ' function f() {}'],
  ['export default 3', 'void  3'],
  ['export { a, b }', ''],
  ['export { a } from "x"', 'await __sallyportImport("x")'],
  ['export * from "x"', 'await __sallyportImport("x")'],
  ['const a = 1; { const b = 2 }', 'let a = 1; { const b = 2 }'],
  ['for (const a of b) { import("x") }', 'for (const a of b) { __sallyportImport("x") }'],
])('%j becomes %j', (code, script) => {
  expect(toScript(code)).toBe(script);
});

test.each([
  'f("import x from y"); g(\'const a\')',
  '// import x from "y"\n/* const a */ f()',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the code under test is a template
  'f(`import ${`const ${x}`} from "y"`)',
  'f(/import "x"/, a / b / c, /[/]const "/)',
  'a.import("x"); ({ import: 1, const: 2 })',
  'import x',
  'let a = {\n  get: 1 }',
])('%j stays as it is', (code) => {
  expect(toScript(code)).toBe(code);
});

test('the name belongs to this error only', () => {
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
