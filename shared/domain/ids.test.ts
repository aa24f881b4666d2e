import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { canonicalUuid, derivedUuid, isUuid } from './ids.ts';

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

test('an id in capitals is the same id, and a text that is not an id stays unchanged', () => {
  const id = '0b5ff1c6-0a3f-4d0e-9d6e-6f1f7a2b3c4d';
  expect([canonicalUuid(id), canonicalUuid(id.toUpperCase())]).toEqual([id, id]);
  expect(['', 'MyServer', `${id.toUpperCase()}X`].map(canonicalUuid)).toEqual([
    '',
    'MyServer',
    `${id.toUpperCase()}X`,
  ]);
});

test('a derived id is a UUID of version 8, equal for equal input, and different otherwise', () => {
  const hash = (text: string) => createHash('sha256').update(text).digest('hex');
  const ids = ['a', 'b', 'c', 'd', 'e', 'f'].map((text) => derivedUuid(hash(text)));
  expect(ids.every((id) => isUuid(id) && /^.{14}8.{4}[89ab]/.test(id))).toBe(true);
  expect(new Set(ids).size).toBe(6);
  expect(derivedUuid(hash('a'))).toBe('ca978112-ca1b-8dca-bac2-31b39a23dc4d');
});
