import { expect, test } from 'vitest';
import { isRegistered } from './redirect-uri.ts';

test.each([
  ['http://127.0.0.1:9/back', true],
  ['http://127.0.0.1:54321/back', true],
  ['http://127.0.0.1/back', true],
  ['http://127.0.0.1:9/back/', false],
  ['http://127.0.0.1:9/back/../back', false],
  ['http://127.0.0.1:9/./back', false],
  ['http://127.0.0.1:9/back?', false],
  ['http://127.1:9/back', false],
  ['http://0x7f.1/back', false],
  ['HTTP://127.0.0.1:9/back', false],
  ['http://localhost:9/back', false],
  ['http://[::1]:9/back', false],
  ['http://127.0.0.1:99999/back', false],
  ['http://127.0.0.1.example.com:9/back', false],
  ['https://127.0.0.1:9/back', false],
  ['https://app.example/back', true],
  ['https://app.example:8443/back', false],
  ['https://app.example/x/../back', false],
])('OA2: of an address of this machine the port alone may be another: %s, %s', (text, expected) => {
  expect(isRegistered(text, ['http://127.0.0.1:9/back', 'https://app.example/back'])).toBe(expected);
});
