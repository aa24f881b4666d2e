import { expect, test } from 'vitest';
import { shownContent } from './tool-content.ts';

test('text is text, a picture is a picture', () => {
  expect(
    shownContent([
      { type: 'text', text: 'hi' },
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
    ]),
  ).toEqual([
    { kind: 'text', text: 'hi' },
    { kind: 'picture', url: 'data:image/png;base64,AAAA' },
  ]);
});

test.each([
  { type: 'image', mimeType: 'image/svg+xml', data: 'AAAA' },
  { type: 'image', mimeType: 'text/html', data: 'AAAA' },
  { type: 'image', mimeType: 'image/png', data: 'AAA" onerror="x' },
  { type: 'image', mimeType: 'image/png', data: 'AAAAB' },
  { type: 'resource', uri: 'file:///etc/passwd' },
])('anything else is shown as what it is: %j', (block) => {
  expect(shownContent([block])).toEqual([{ kind: 'text', text: JSON.stringify(block, null, 2) }]);
});
