import { expect, test } from 'vitest';
import { isUuid } from './ids.ts';

test.each([
  ['0b5ff1c6-0a3f-4d0e-9d6e-6f1f7a2b3c4d', true],
  ['0B5FF1C6-0A3F-4D0E-9D6E-6F1F7A2B3C4D', false],
  ['0b5ff1c60a3f4d0e9d6e6f1f7a2b3c4d', false],
  ['0b5ff1c6-0a3f-4d0e-9d6e-6f1f7a2b3c4d\n', false],
  ['x0b5ff1c6-0a3f-4d0e-9d6e-6f1f7a2b3c4d', false],
  ['', false],
])('%j is a UUID in lower case: %s', (text, expected) => {
  expect(isUuid(text)).toBe(expected);
});
