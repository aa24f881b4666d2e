/** The kind of an image by its first bytes, and by the base64 of them. */
import { expect, test } from 'vitest';
import { imageTypeOf, imageTypeOfBytes } from './image-type.ts';

test.each([
  ['image/png', '89504e470d0a1a0a0000000d'],
  ['image/jpeg', 'ffd8ffe000104a4649460001'],
  ['image/gif', '474946383961010001000000'],
  ['image/webp', '524946460a00000057454250'],
  [undefined, '3c7376672f3e0a0000000000'],
  [undefined, ''],
])('%s', (expected, hex) => {
  const bytes = Buffer.from(hex, 'hex');
  expect(imageTypeOfBytes(bytes)).toBe(expected);
  expect(imageTypeOf(bytes.toString('base64'))).toBe(expected);
});
