/** Code as the REPLs of Node and Python and the documents of both languages have it, call by call in one context. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestSandbox, type TestSandbox } from './sandbox-fixture.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
  const files = {
    'four.mjs': 'export const four = 4; export default 3',
    'named.mjs': 'export const named = 1',
    'five.ts': 'export type Five = 5\nexport const five: Five = 5',
    'data.json': '{"six": 6}',
    'seven.cjs': 'module.exports = { seven: 7 }',
    'star.py': 'eight = 8\n_nine = 9',
  };
  for (const [name, content] of Object.entries(files))
    await writeFile(join(sandbox.workspace, name), content);
  sandbox.own();
});
afterAll(() => sandbox.stop());

type Language = 'node' | 'python';
type Fields = {
  readonly stdout: string;
  readonly stderr: string;
  readonly error_line?: string;
  readonly results: readonly Readonly<Record<string, unknown>>[];
};
const run = async (language: Language, context: string, code: string): Promise<Fields> => {
  const input = { language, context, code, results: true, timeout: 20 };
  return (await sandbox.callTool('execute_code', input)).structuredContent as unknown as Fields;
};

/** As a REPL prints: the output, then the value, else the error. */
const printed = async (language: Language, context: string, code: string): Promise<string> => {
  const { stdout, error_line, results } = await run(language, context, code);
  return `${stdout}${results.at(-1)?.['text/plain'] ?? ''}${error_line ?? ''}`;
};

/** Each row is a context of its own: pieces of code, and what the last one prints. */
const cases = (language: Language, rows: readonly (readonly string[])[]): void => {
  test.each(rows.map((row, index) => [row.slice(0, -1).join(' ⏎ '), row, index % 3] as const))(
    `${language}: %s`,
    async (_, row, place) => {
      const context = `${language}-${place}`;
      await sandbox.ask('DELETE', `/contexts/${context}`);
      const codes = row.slice(0, -1);
      for (const code of codes.slice(0, -1)) await run(language, context, code);
      expect(await printed(language, context, codes.at(-1) ?? '')).toBe(row.at(-1));
    },
  );
};

const lacks = (module: string, name: string): string =>
  `SyntaxError: The requested module '${module}' does not provide an export named '${name}'`;

cases('node', [
  ['1 + 1', '2'],
  ['const = 1', "SyntaxError: Unexpected token '='"],
  ['const x = 1; x = 2', 'TypeError: Assignment to constant variable.'],
  ['const x = 1', 'x = 2', 'TypeError: Assignment to constant variable.'],
  ['const x = 1', 'const x = 2; x', '2'],
  ['const x = 1', 'let x = 2; x', '2'],
  ['let x = 1', 'const x = 2; x', '2'],
  ['let x = 1', 'let x; x', ''],
  ['const { a, b } = { a: 1, b: 2 }', 'let [a, b] = [3, 4]; a + b', '7'],
  ['var x = 1', 'let { x } = { x: 2 }; x', '2'],
  ['let x = 1; let x = 2', "SyntaxError: Identifier 'x' has already been declared"],
  ['const x = 1', 'let x = 2; x++', "SyntaxError: Identifier 'x' has already been declared"],
  ['let x = (() => { throw new Error("no") })()', 'let x = 5; x', '5'],
  ['f(); function f() { return "hoisted" }', "'hoisted'"],
  ['function f() { return 1 }', 'function f() { return 2 }', 'f()', '2'],
  ['const f = () => 1', 'function f() { return 2 }', 'f()', '2'],
  ['class A { n() { return 1 } }', 'class A { n() { return 2 } }', 'new A().n()', '2'],
  ['class A {}', 'class B extends A {}; new B() instanceof A', 'true'],
  ['async function f() { return 3 }\nawait f()', '3'],
  ['const f = async () => 3; f()', 'Promise { 3 }'],
  ['for await (const n of (async function* () { yield 1; yield 2 })()) console.log(n)', '1\n2\n'],
  ['let total = 0; for (const n of [1, 2]) total += await n; total', '3'],
  ['const { p, ...rest } = { p: 1, q: 2, r: 3 }; rest', '{ q: 2, r: 3 }'],
  ['let [first, , third = 9] = [1, 2]; [first, third]', '[ 1, 9 ]'],
  ['({ x: y } = { x: 5 }); y', '5'],
  ['outer: for (const a of [1, 2]) { for (;;) { continue outer } }', ''],
  ['found: { if (true) break found; console.log("no") }', ''],
  ['{ a: 1 }', '{ a: 1 }'],
  ['{ a: 1, b: [await 2] } // an object', '{ a: 1, b: [ 2 ] }'],
  ['{ const inner = 1; console.log(inner) }', '1\n'],
  ['{}', '{}'],
  ['1 + 1 // the end', '2'],
  ['/* a */ 3 /* b */', '3'],
  ['"use strict"; undeclared = 1', 'ReferenceError: undeclared is not defined'],
  ['undeclared = 1; globalThis.undeclared', '1'],
  ['-0', '-0'],
  ['2n ** 64n', '18446744073709551616n'],
  ['NaN', 'NaN'],
  ['Symbol.for("s")', 'Symbol(s)'],
  ['"text"', "'text'"],
  ['null', 'null'],
  ['undefined', ''],
  ['let a = 1', ''],
  ['if (true) { 5 } else { 6 }', '5'],
  ['6 * 7', '_ + 1', '43'],
  ['const _ = 5', '1', '_', '5'],
  ['/import "x"/.test("import \\"x\\"")', 'true'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the code under test is a template
  ['`import ${"from"} "x"`', '\'import from "x"\''],
  ['typeof require("node:fs").readFileSync', "'function'"],
  ['require("./seven.cjs").seven', '7'],
  ['import fs from "node:fs"\ntypeof fs.readFileSync', "'function'"],
  ['import * as path from "node:path"', 'path.basename("/a/b")', "'b'"],
  ['import { basename as base, dirname } from "node:path"; [base("/a/b"), dirname("/a/b")]', "[ 'b', '/a' ]"],
  ['import three, { four } from "./four.mjs"\n[three, four]', '[ 3, 4 ]'],
  ['import data from "./data.json" with { type: "json" }\ndata', '{ six: 6 }'],
  ['(await import("./four.mjs")).four', '4'],
  ['const load = () => import("./four.mjs")', '(await load()).default', '3'],
  ['import { type Five, five } from "./five.ts"; five', '5'],
  [
    'try { await import("./nowhere.mjs") } catch (error) { console.log(error.code) }',
    'ERR_MODULE_NOT_FOUND\n',
  ],
  ['import fs from "fs"', 'const fs = require("fs"); typeof fs.existsSync', "'function'"],
  ['export const a = 1; export default function g() { return a }', 'g()', '1'],
  ['let n: number = 1; n', '1'],
  ['enum Color { Red, Green = 5 }\nColor[5]', "'Green'"],
  ['enum Color { Red }', 'enum Color { Blue = 7 }\nColor.Blue', '7'],
  ['interface Point { x: number; y?: string }\nconst p: Point = { x: 1 }\np', '{ x: 1 }'],
  ['type Id = string | number; const id = 5 satisfies Id; id', '5'],
  ['function first<T>(all: readonly T[]): T | undefined { return all[0] }', 'first<string>(["a"])', "'a'"],
  ['class P { constructor(private readonly x: number) {} get() { return this.x } }\nnew P(4).get()', '4'],
  ['new Set<string>(["a"]).size', '1'],
  ['const i = 1, j = 5; i<2 && j>(3)', 'true'],
  ['const a = [1, 2] as const; a!.length as number', '2'],
  [
    'import type { Stats } from "node:fs"\nimport { type Dirent, existsSync } from "node:fs"\nexistsSync("/")',
    'true',
  ],
  [
    'abstract class S { abstract area(): number }\nclass Q extends S { area() { return 4 } }\nnew Q().area()',
    '4',
  ],
  ['{ a: 1 as number }', '{ a: 1 }'],
  ['namespace N { export const v = 3 }\nN.v', '3'],
  ['let f = <T,>(x: T): T => x; f(2)', '2'],
  ['const o = { m(this: unknown, a?: number): void {} }; typeof o.m', "'function'"],
  // https://nodejs.org/api/repl.html
  ['[ "a", "b", "c" ]', '_.length', '_ += 1', '4'],
  ['1 + 1', '_ = 9', '5', '_', '9'],
  ['const m = await Promise.resolve(123)', 'm', '123'],
  ['throw { a: 1 }', 'Uncaught { a: 1 }'],
  // The value of a statement: https://tc39.es/ecma262/#sec-ecmascript-language-statements-and-declarations
  ['5;;', '5'],
  ['1; var q = 2', '1'],
  ['1; function f() {}', '1'],
  ['1; if (false) { 2 }', ''],
  ['do { 3 } while (false)', '3'],
  ['try { 1 } finally { 2 }', '1'],
  ['switch (1) { case 1: "one" }', "'one'"],
  ['a: b: 5', '5'],
  ['x: { 1; break x }', '1'],
  ['5; import "node:fs"', '5'],
  ['import "node:fs"', ''],
  ['export * from "node:os"', ''],
  ['export { EOL } from "node:os"', ''],
  // https://tc39.es/ecma262/#sec-automatic-semicolon-insertion
  ['const f = function () { return\n1 }\nf()', ''],
  ['let a = 1\nlet b = a\n++b\n;[a, b]', '[ 1, 2 ]'],
  ['let c = 1\n(function () {})()', 'TypeError: 1 is not a function'],
  ['throw\nnew Error()', 'SyntaxError: Illegal newline after throw'],
  // A slash divides after a value, and begins a regular expression elsewhere.
  ['let x = 4; x++ / 2', '2'],
  ['if (true) /x/.test("x")', 'true'],
  ['[4][0] / 2', '2'],
  ['"a/b".replace(/[/]/g, "-")', "'a-b'"],
  ['const r = /}/; r.test("}")', 'true'],
  ['const s = { a: 1 }\n/a/.test("a")', "SyntaxError: Unexpected token '.'"],
  ['/(?<year>\\d{4})/.exec("in 2024").groups.year', "'2024'"],
  // Declarations
  ['class A { static #p = 1; static get p() { return this.#p } }; A.p', '1'],
  ['class A { static { this.k = 3 } }; A.k', '3'],
  ['class B extends Missing {}', 'ReferenceError: Missing is not defined'],
  ['class B extends Missing {}', 'class B {}; new B()', 'B {}'],
  ['function* g() { yield 1; yield 2 }', '[...g()]', '[ 1, 2 ]'],
  ['async function* g() { yield 1 }', 'await g().next()', '{ value: 1, done: false }'],
  ['const { a: { b } } = {}', "TypeError: Cannot read properties of undefined (reading 'b')"],
  ['const { a = 1, ...rest } = { b: 2 }', '[a, rest]', '[ 1, { b: 2 } ]'],
  ['var [q, w] = await Promise.all([1, 2])', 'q + w', '3'],
  ['for (let i = 0; i < 2; i++) await i; typeof i', "'undefined'"],
  ['{ var inner = 1; await inner }', 'inner', '1'],
  ['await 1; function later() { return 7 } class L {}', '[later(), typeof L]', "[ 7, 'function' ]"],
  ['const fails = await Promise.reject(new Error("no"))', 'const fails = 2; fails', '2'],
  ['const a', 'SyntaxError: Missing initializer in const declaration'],
  ['let let = 1', 'SyntaxError: let is disallowed as a lexically bound name'],
  ['let undefined = 1', "SyntaxError: Identifier 'undefined' has already been declared"],
  ['const NaN = 1', "SyntaxError: Identifier 'NaN' has already been declared"],
  ['var foo = 1', 'globalThis.foo', '1'],
  ['let foo = 1', 'globalThis.foo', ''],
  ['return 5', 'SyntaxError: Illegal return statement'],
  ['#! node\n5', '5'],
  // Modules
  ['import { nothing } from "./four.mjs"', lacks('./four.mjs', 'nothing')],
  ['import { nothing as n, four } from "./four.mjs"', lacks('./four.mjs', 'nothing')],
  ['import none from "./named.mjs"', lacks('./named.mjs', 'default')],
  ['import three, { four as vier, } from "./four.mjs"; [three, vier]', '[ 3, 4 ]'],
  ['import { "four" as vier, default as three } from "./four.mjs"; [vier, three]', '[ 4, 3 ]'],
  ['import {} from "./four.mjs"; 1', '1'],
  ['import.meta.dirname === process.cwd()', 'true'],
  ['module.exports = { a: 1 }; module.exports.a', '1'],
  // The names of the global scope are free for code.
  ['class Map { constructor() { this.own = true } }', 'new Map()', 'Map { own: true }'],
  ['class Object {}; class Array {}; class Promise {}', '({ a: [1, 2] })', '{ a: [ 1, 2 ] }'],
  ['let Reflect = 1, Number = 2, BigInt = 3, Set = 4, String = 5, Symbol = 6', '[7n, Reflect]', '[ 7n, 1 ]'],
  ['const process = 1', 'process', '1'],
  ['const globalThis = 1, global = 2', 'import { sep } from "node:path"', '[sep, globalThis]', "[ '/', 1 ]"],
  ['let Error = 1, JSON = 2, Buffer = 3', 'missing', 'ReferenceError: missing is not defined'],
  ['let setTimeout = 1, AbortController = 2', 'await new Promise((done) => setImmediate(done, 5))', '5'],
]);

cases('python', [
  ['1 + 1', '2'],
  ['1 + 1;', ''],
  ['(1 +\n 1); # said; nothing', ''],
  ['(1 +\n 1) # a; comment', '2'],
  ['x = 5', ''],
  ['x = 5\nx', '5'],
  ['x = 5; x', '5'],
  ['None', ''],
  ['"a;"', "'a;'"],
  ['"""a\nb"""', "'a\\nb'"],
  ['print("out")\n"value"', "out\n'value'"],
  ['for i in range(2):\n    i', ''],
  ['if True:\n    print("yes")', 'yes\n'],
  ['def f(a, *, b=2):\n    return a + b', 'f(1)', '3'],
  ['def f():\n  """Doc."""\nf.__doc__', "'Doc.'"],
  [
    'import functools\n@functools.cache\ndef f(n): return n if n < 2 else f(n - 1) + f(n - 2)\nf(30)',
    '832040',
  ],
  ['class Abc:\n    n = 1', 'class Abc:\n    n = 2', 'Abc.n', '2'],
  ['from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: int = 1\nPoint()', 'Point(x=1)'],
  ['import asyncio\nawait asyncio.sleep(0, 7)', '7'],
  ['async def g():\n    for n in 1, 2: yield n', 'async for n in g(): print(n)\nn', '1\n2\n2'],
  ['async def g():\n    yield 3', '[n async for n in g()]', '[3]'],
  [
    'import contextlib\n@contextlib.asynccontextmanager\nasync def c(): yield 4',
    'async with c() as n: pass\nn',
    '4',
  ],
  ['6 * 7', '_ + 1', '43'],
  ['_ = 5', '1', '_', '5'],
  ['__name__', "'__main__'"],
  ['if __name__ == "__main__":\n    print("main")', 'main\n'],
  ['from star import *\neight', '8'],
  ['from star import *\n_nine', "NameError: name '_nine' is not defined"],
  ['(n := 10) + n', '20'],
  ['if (n := len("abc")) > 2: print(n)', '3\n'],
  ['name = "x"; f"{name=} {3.14159:.2f} {{}}"', '"name=\'x\' 3.14 {}"'],
  ['def g():\n    yield from range(3)\nlist(g())', '[0, 1, 2]'],
  ['[x * y for x in (1, 2) for y in (3, 4)]', '[3, 4, 6, 8]'],
  ['{k: v for k, v in zip("ab", (1, 2))}', "{'a': 1, 'b': 2}"],
  ['first, *rest = 1, 2, 3\nrest', '[2, 3]'],
  ['a = b = []\na is b', 'True'],
  ['match {"k": 1}:\n    case {"k": n}: print(n)', '1\n'],
  ['lambda: 0;', ''],
  ['...', 'Ellipsis'],
  ['global g; g = 1\ng', '1'],
  ['try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    print(e)', 'division by zero\n'],
  ['1 / 0', 'ZeroDivisionError: division by zero'],
  ['raise ValueError("a\\nb")', 'ValueError: a'],
  ['return 1', "SyntaxError: 'return' outside function"],
  ['  x = 1', 'IndentationError: unexpected indent'],
  ['# nothing', ''],
  ['"ä" * 2;', ''],
  ['("ä"); # ü', ''],
  ['del x', "NameError: name 'x' is not defined"],
  ['"+".join(["1"] * 3000) and 1', '1'],
  ['from __future__ import annotations\ndef f(a: Missing): ...\nf.__annotations__', "{'a': 'Missing'}"],
  // https://docs.python.org/3/tutorial/
  ['tax = 12.5 / 100\nprice = 100.50', 'price * tax', 'price + _', 'round(_, 2)', '113.06'],
  ["'Py' 'thon'", "'Python'"],
  ["word = 'Python'\nword[-2:], word[42:]", "('on', '')"],
  ["word = 'Python'\nword[0] = 'J'", "TypeError: 'str' object does not support item assignment"],
  ['a, b = 0, 1\nwhile a < 10:\n    print(a, end=",")\n    a, b = b, a + b', '0,1,1,2,3,5,8,'],
  [
    'for n in range(2, 5):\n    for x in range(2, n):\n        if n % x == 0: break\n    else:\n        print(n)',
    '2\n3\n',
  ],
  [
    'def http_error(status):\n    match status:\n        case 401 | 403:\n            return "not allowed"\n        case _:\n            return "?"',
    'http_error(403)',
    "'not allowed'",
  ],
  ['def f(a, so_far=[]):\n    so_far.append(a)\n    return so_far', 'f(1)', 'f(2)', '[1, 2]'],
  [
    'def f(pos, /, *, kw): pass\nf(pos=1, kw=2)',
    "TypeError: f() got some positional-only arguments passed as keyword arguments: 'pos'",
  ],
  ['while True print("Hello world")', 'SyntaxError: invalid syntax'],
  ["'2' + 2", 'TypeError: can only concatenate str (not "int") to str'],
  [
    'try:\n    raise NameError("Hi")\nexcept NameError:\n    print("flew by")\n    raise',
    'flew by\nNameError: Hi',
  ],
  ['raise ExceptionGroup("there", [OSError("e1")])', 'ExceptionGroup: there (1 sub-exception)'],
  [
    'def scope():\n    spam = 1\n    def inner():\n        nonlocal spam\n        spam = 2\n    inner()\n    return spam\nscope()',
    '2',
  ],
  ['import pickle\nclass P: n = 1', 'pickle.loads(pickle.dumps(P())).n', '1'],
  ['import inspect\ns = "\f"\ndef f(): return 1', 'inspect.getsource(f)', "'def f(): return 1\\n'"],
  ['import enum\nclass C(enum.Enum):\n    RED = 1\nC.RED', '<C.RED: 1>'],
  ['x, y = 1, 2, 3', 'ValueError: too many values to unpack (expected 2)'],
  ['a, (b, *c), d = 1, (2, 3, 4), 5\nc', '[3, 4]'],
  ['n := 3', 'SyntaxError: invalid syntax'],
  ['[y := 1, y + 1]', '[1, 2]'],
  ['def f():\nreturn 1', 'IndentationError: expected an indented block after function definition on line 1'],
  ['if True:\n\tx = 1\n        y = 2', 'TabError: inconsistent use of tabs and spaces in indentation'],
  ['x = [1, 2', "SyntaxError: '[' was never closed"],
  ['"""never closed', 'SyntaxError: unterminated triple-quoted string literal (detected at line 1)'],
  ['def f():\n    await g()', "SyntaxError: 'await' outside async function"],
  ['import asyncio\nasyncio.run(asyncio.sleep(0, 6))', '6'],
  ['import asyncio\nq = asyncio.Queue()', 'await q.put(1)\nawait q.get()', '1'],
  ['import asyncio\nt = asyncio.create_task(asyncio.sleep(0, 3))\nawait t', 't.result()', '3'],
  ['if True:\n    1', ''],
  ['5\r\n6', '6'],
  ['\ufeff5', '5'],
  ['exec("e = 5")\ne', '5'],
  ['class Bad:\n    def __repr__(self): raise ValueError("r")\nBad()', 'ValueError: r'],
  // As the REPL keeps them: https://docs.python.org/3/library/codeop.html and sys.html#sys.last_value
  ['from __future__ import annotations', 'def f(a: Missing): ...\nf.__annotations__', "{'a': 'Missing'}"],
  ['1 / 0', 'import sys\nrepr(sys.last_value)', '"ZeroDivisionError(\'division by zero\')"'],
  ['x = = 1', 'import sys\nsys.last_type', "<class 'SyntaxError'>"],
  ['exit()', 'input()', 'EOFError: EOF when reading a line'],
  // Code may replace what the interpreter also uses.
  ['import sys\nsys.stderr = None', '1 / 0', 'ZeroDivisionError: division by zero'],
  ['import sys\nsys.excepthook = lambda: 1', '1 / 0', 'ZeroDivisionError: division by zero'],
  ['list = str = print = len = isinstance = type = 5', '{"a": [1]}', "{'a': [1]}"],
]);

test.each([
  ['node', 'const a = 1\n\nfunction f() {\n  throw new Error("no")\n}\nf()', [4, 6]],
  ['node', '// type\nlet n: number = 1\ninterface I {\n  a: 1\n}\nthrow new Error("no")', [6]],
  ['node', '{ a: 1,\n  b: (() => { throw new Error("no") })() }', [2, 2]],
  ['node', 'enum E {\n  A,\n  B,\n}\n\nfunction f(): void {\n\n  throw new Error("no")\n}\nf()', [8, 10]],
  ['node', 'import {\n  basename,\n} from "node:path"\nthrow new Error(basename("no"))', [4]],
  ['node', 'let a = 1\nlet b = ;', [2]],
  ['python', 'x = 1\n\ndef f():\n    raise ValueError("no")\nf()', [5, 4]],
  ['python', 'x = (1,\n     [][0])', [2]],
  ['python', 'await x', [1]],
  ['python', 'x = 1\ny = = 2', [2]],
] as const)('%s: %j names its lines', async (language, code, lines) => {
  const { stderr } = await run(language, `${language}-lines`, code);
  const found = [...stderr.matchAll(/(?:node-\d+:|python-\d+>", line )(\d+)/g)].map(([, line]) =>
    Number(line),
  );
  expect(found).toEqual(lines);
});
