import { expect, test } from 'vitest';
import { displayedContent } from './displayed-content.ts';

const text = { type: 'text', text: 'the result' };
const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };

test('what follows the text of the result is shown', () => {
  expect(displayedContent([text, image, { type: 'text', text: 'more', extra: 1 }])).toEqual([
    image,
    { type: 'text', text: 'more' },
  ]);
  expect(displayedContent([text])).toEqual([]);
  expect(displayedContent([])).toEqual([]);
});

test.each([
  [{ type: 'image', data: 'no base64!', mimeType: 'image/png' }],
  [{ type: 'image', data: 'AAAA', mimeType: 'text/html' }],
  [{ type: 'image', data: 'AAAA', mimeType: 'image/png; x=y' }],
  [{ type: 'resource', uri: 'file:///etc/passwd' }],
  [{ type: 'text' }],
])('%j is dropped', (block) => {
  expect(displayedContent([text, block, image])).toEqual([image]);
});

test('more than the sandbox itself allows is dropped', () => {
  expect(displayedContent([text, ...Array.from({ length: 20 }, () => image)])).toHaveLength(9);
  const large = { ...image, data: 'A'.repeat(4 * 1_048_576) };
  expect(displayedContent([text, large, large, image])).toEqual([large]);
});
