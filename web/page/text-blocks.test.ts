import { expect, test } from 'vitest';
import { blocksOf } from './text-blocks.js';

const paragraph = (text: string) => ({ kind: 'paragraph', spans: [{ kind: 'text', text }] });

test('text falls into paragraphs, and single line breaks stay', () => {
  expect(blocksOf('one\ntwo\n\n\nthree\n')).toEqual([paragraph('one\ntwo'), paragraph('three')]);
});

test('fenced code is kept as it is, with its language', () => {
  expect(blocksOf('before\n```python\nif a:\n\n  **b**\n```\nafter')).toEqual([
    paragraph('before'),
    { kind: 'code', language: 'python', text: 'if a:\n\n  **b**' },
    paragraph('after'),
  ]);
});

test('a fence that is still open holds all that follows', () => {
  expect(blocksOf('```\nhalf')).toEqual([{ kind: 'code', language: '', text: 'half' }]);
});

test('code and bold are found within a line, and markup is text', () => {
  expect(blocksOf('run `ls` and **wait**, <b>now</b>')).toEqual([
    {
      kind: 'paragraph',
      spans: [
        { kind: 'text', text: 'run ' },
        { kind: 'code', text: 'ls' },
        { kind: 'text', text: ' and ' },
        { kind: 'strong', text: 'wait' },
        { kind: 'text', text: ', <b>now</b>' },
      ],
    },
  ]);
});

test('nothing gives nothing', () => {
  expect(blocksOf('\n\n')).toEqual([]);
});
