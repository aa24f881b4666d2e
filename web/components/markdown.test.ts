import { Tokenizer } from 'marked';
import { expect, test } from 'vitest';
import type { VNode } from 'vue';
import { markdownBlocks } from './markdown.vue';

type Plain = string | readonly [tag: string, ...rest: unknown[]];

/** An element as its name, what of its attributes matters, and its children. */
const plain = (node: VNode | string): Plain => {
  if (typeof node === 'string') return node;
  const children = Array.isArray(node.children)
    ? (node.children as (VNode | string)[]).map(plain)
    : node.children;
  const { href, code, language, tex, isDisplay } = node.props ?? {};
  const named = { ...(href && { href }), ...(code && { code, language }), ...(tex && { tex, isDisplay }) };
  const tag = typeof node.type === 'string' ? node.type : 'code block';
  return [tag, ...(Object.keys(named).length > 0 ? [named] : []), ...[children].flat(1)].filter(
    (part) => part !== null,
  ) as unknown as Plain;
};
const read = (text: string) =>
  markdownBlocks(text)
    .filter((block) => block !== '')
    .map(plain);

test('Markdown becomes elements', () => {
  expect(read('# Title\n\none **two** `three`\nfour')).toEqual([
    ['h2', 'Title'],
    ['p', 'one ', ['strong', 'two'], ' ', ['code', 'three'], ['br'], 'four'],
  ]);
  expect(read('```python extra\nprint(1)\n```')).toEqual([
    ['code block', { code: 'print(1)', language: 'python' }],
  ]);
});

test('a cell with much text in a table keeps its width', () => {
  const long = 'a sentence that goes on for a while, '.repeat(3);
  const html = JSON.stringify(markdownBlocks(`| n | what |\n|---|---|\n| 1 | ${long} |`));
  expect(html.match(/"class":"prose"/g)).toHaveLength(1);
});

test('what a model quotes as the output of a call is folded', () => {
  expect(read('two lines:\n\n```output\na\nb\n```')).toEqual([
    ['p', 'two lines:'],
    ['details', ['summary', 'Output'], ['code block', { code: 'a\nb', language: 'output' }]],
  ]);
});

test('an item of a task list has its box once', () => {
  expect(read('- [x] done\n- [ ] open')).toEqual([
    ['ul', ['li', '☑ ', ['span', 'done']], ['li', '☐ ', ['span', 'open']]],
  ]);
});

test('raw HTML is shown as text', () => {
  expect(read('a <img src=x onerror=alert(1)> b')).toEqual([
    ['p', 'a ', '<img src=x onerror=alert(1)>', ' b'],
  ]);
  expect(read('<script>alert(1)</script>')).toEqual(['<script>alert(1)</script>']);
});

test.each([
  'javascript:alert(1)',
  'data:text/html,x',
  'JaVaScRiPt:alert(1)',
  '//elsewhere.example',
  'vbscript:x',
])('a link to %s is not a link', (href) => {
  expect(read(`[click](${href})`)).toEqual([['p', ['span', 'click']]]);
});

test('a link to a page is a link, and a picture becomes a link that is not loaded', () => {
  expect(read('[x](https://a.example/) ![alt](https://b.example/p.png)')).toEqual([
    ['p', ['a', { href: 'https://a.example/' }, 'x'], ' ', ['a', { href: 'https://b.example/p.png' }, 'alt']],
  ]);
});

test('characters that hide or turn text are removed', () => {
  expect(read('\u001B[31mred\u001B[0m \u202Eturned\u0007')).toEqual([['p', 'red turned']]);
});

test('an attack by deep nesting ends as text', () => {
  expect(() => read(`${'> '.repeat(5000)}deep`)).not.toThrow();
  expect(() => read('['.repeat(5000))).not.toThrow();
});

const formulas = (text: string): unknown[] =>
  (read(text) as unknown[]).flat(9).filter((part) => typeof part === 'object' && 'tex' in (part as object));

test.each([
  ['in a line $x_1^2$ ends', ['x_1^2', false]],
  ['in brackets \\(a + b\\) ends', ['a + b', false]],
  ['$$\n\\frac{1}{2}\n$$', ['\\frac{1}{2}', true]],
  ['after a line\n\\[\n x = y \n\\]\nand on', ['x = y', true]],
  ['in a line: $$x$$ ends', ['x', true]],
  ['- an item with $n$', ['n', false]],
  ['| a |\n|---|\n| $n!$ |', ['n!', false]],
  ['```math\nx\n```', ['x', true]],
  ['an escaped $\\$5 = x$', ['\\$5 = x', false]],
])('%j has a formula', (text, [tex, isDisplay]) => {
  expect(formulas(text)).toEqual([{ tex, isDisplay }]);
});

test.each([
  'it costs $5 and $6',
  'from $5 to 10$ a month',
  'between $5-$10',
  'US$5 and A$6',
  'export PATH=$HOME:$PATH',
  '$HOME/$USER',
  '$ sleep 1; echo $',
  '`$x$` and `\\(x\\)`',
  '\\$x$ and $',
  '$5 for `a$`',
  'a $$ b',
])('%j has no formula', (text) => {
  expect(formulas(text)).toEqual([]);
});

test('an attack by many dollars ends as text', () => {
  expect(formulas('$'.repeat(20_000))).toEqual([]);
  expect(formulas('$$ a\n'.repeat(5000)).length).toBeGreaterThanOrEqual(0);
  expect(formulas('\\['.repeat(5000))).toEqual([]);
});

/** Methods that look ahead from each place of a text; they are handed what they may look at. */
const looking = ['emStrong', 'url', 'inlineText', 'lheading', 'paragraph'] as const;

/** The characters that the reader was handed for one text. */
const charactersHanded = (text: string): number => {
  const methods = Tokenizer.prototype as unknown as Record<string, (...given: unknown[]) => unknown>;
  const own = looking.map((name) => [name, methods[name]] as const);
  let characters = 0;
  for (const [name, method] of own)
    methods[name] = function (this: unknown, ...given) {
      characters += String(given[0]).length;
      return method?.apply(this, given);
    };
  try {
    markdownBlocks(text);
  } finally {
    Object.assign(methods, Object.fromEntries(own));
  }
  return characters;
};

test.each(['**a* ', '_a', '*a ', 'a\n$$x$$\n', '$$ a\n', '\\[ a\n', 'a.b@'])(
  'the work for many %j grows with their number, not with its square',
  (shape) => {
    const [once = 0, , fourTimes = 0] = [1, 2, 4].map((times) =>
      charactersHanded(shape.repeat((times * 5000) / shape.length)),
    );
    expect(fourTimes / once).toBeLessThan(5);
  },
);

test('the ends of emphases are sought up to a number of characters, and what follows stays as it was written', () => {
  const words = (many: number): string => 'word '.repeat(many).trimEnd();
  expect(read(`**${words(150)}**`)).toEqual([['p', ['strong', words(150)]]]);
  expect(read(`**${words(250)}**`)).toEqual([['p', `**${words(250)}**`]]);
  const [[, ...parts] = []] = read('**a* '.repeat(8000)) as unknown as string[][];
  expect(parts.join('')).toContain('**a* **a* **a* ');
});

test('a row of TeX that ends with a distance begins no formula', () => {
  expect(formulas('\\[\na \\\\[4pt] b\n\\]')).toEqual([{ tex: 'a \\\\[4pt] b', isDisplay: true }]);
});
