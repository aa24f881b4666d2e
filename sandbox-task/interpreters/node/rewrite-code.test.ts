import { expect, test } from 'vitest';
import { toScript } from './rewrite-code.ts';

test.each([
  ['import "x"', 'let {  } = await __sallyportImport("x")'],
  [
    'import fs from "node:fs"',
    'let { default: fs } = await __sallyportImport("node:fs", undefined, ["default"])',
  ],
  ['import * as fs from "fs"; fs.x()', 'let fs = await __sallyportImport("fs"); fs.x()'],
  [
    'import a, * as b from "c"',
    'let b = await __sallyportImport("c", undefined, ["default"]), a = b.default',
  ],
  [
    'import d, {\n  a as b,\n  c,\n} from "x"\nb()',
    'let { default: d, a : b , c , } = await __sallyportImport("x", undefined, ["default","a","c"]);\n\n\n\nb()',
  ],
  ['import {} from "x"', 'let {  } = await __sallyportImport("x")'],
  [
    'import j from "./j.json" with { type: "json" }',
    'let { default: j } = await __sallyportImport("./j.json", { with: { type : "json" } }, ["default"])',
  ],
  ['const m = await import("m")', 'const m = await __sallyportImport("m")'],
  ['f(import.meta.url)', 'f(__sallyportMeta.url)'],
  ['export const a = 1', ' const a = 1'],
  ['export default function f() {}', ' function f() {}'],
  ['export default 3', 'void  3'],
  ['export { a, b }', ''],
  ['export { a } from "x"', 'let {} = await __sallyportImport("x")'],
  ['export * from "x"', 'let {} = await __sallyportImport("x")'],
  [
    'import a from "x"\n[a]',
    'let { default: a } = await __sallyportImport("x", undefined, ["default"]);\n[a]',
  ],
  [
    'import type, { b } from "x"',
    'let { default: type, b } = await __sallyportImport("x", undefined, ["default","b"])',
  ],
  ['import type from "x"', 'let { default: type } = await __sallyportImport("x", undefined, ["default"])'],
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
  'import type { A } from "x"',
  'import type A from "x"',
  'import type from from "x"',
  'import type * as a from "x"',
  'const a = 1; { const b = 2 }',
  'let a = {\n  get: 1 }',
])('%j stays as it is', (code) => {
  expect(toScript(code)).toBe(code);
});
