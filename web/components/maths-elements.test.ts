import { expect, test } from 'vitest';
import type { VNode } from 'vue';
import { mathsElements } from './maths-elements.ts';

type Plain = string | readonly Plain[];
const plain = (node: VNode | string): Plain =>
  typeof node === 'string'
    ? node
    : [String(node.type), ...((node.children ?? []) as (VNode | string)[]).map(plain)];
const read = (tex: string, isDisplay = false): Plain | undefined => {
  const element = mathsElements(tex, isDisplay);
  return element === undefined ? undefined : plain(element);
};

test('TeX becomes MathML', () => {
  expect(read('x^2', true)).toEqual(['math', ['msup', ['mi', 'x'], ['mn', '2']]]);
  expect(read('\\mathbb{R}', true)).toEqual(['math', ['mi', 'ℝ']]);
  expect(mathsElements('x', true)?.props).toMatchObject({ display: 'block' });
});

test.each(['\\frac{1}{', '\\unknown{x}', '\\def\\a{\\a\\a}\\a', '}'])('%s is no formula', (tex) => {
  expect(read(tex)).toBeUndefined();
});

test.each([
  '\\href{javascript:alert(1)}{x}',
  '\\url{javascript:alert(1)}',
  '\\includegraphics{https://a.example/p.png}',
  '\\class{call}{x}',
  '\\id{app}{x}',
  '\\style{position:fixed}{x}',
  '\\data{a=b}{x}',
])('%s of a message is refused', (tex) => {
  expect(read(tex)).toBeUndefined();
});

test('markup in a formula is text', () => {
  expect(JSON.stringify(read('\\text{<img src=x onerror=alert(1)>}'))).toContain('<img');
  expect(read('\\text{<b>}', true)).toEqual(['math', ['mtext', '<b>']]);
});

test('sizes have a limit', () => {
  const [rule] = (mathsElements('\\rule{900em}{900em}', true)?.children ?? []) as VNode[];
  expect(rule?.props).toMatchObject({ width: '10em', height: '10em' });
});
