import { describe, expect, test } from 'vitest';
import type { OwnerId, ProjectId } from './ids.ts';
import {
  allowsFlavor,
  approvalsOf,
  isSecretName,
  isSecretValue,
  theDefaultProject,
  withoutSecret,
  withSecret,
} from './project.ts';

test('the default project belongs to the deployment and restricts nothing', () => {
  expect(theDefaultProject).toEqual({
    id: '00000000-0000-4000-8000-000000000000',
    owner: 'deployment',
    name: 'default',
    createdAt: 0,
  });
  expect(allowsFlavor(theDefaultProject, 'large')).toBe(true);
});

test.each([
  [['micro', 'small'], 'small', true],
  [['micro', 'small'], 'large', false],
  [[], 'micro', false],
] as const)('a project that allows %j allows %s: %s', (flavorsAllowed, flavor, expected) => {
  const project = { id: 'p' as ProjectId, owner: 'o' as OwnerId, name: 'n', createdAt: 0, flavorsAllowed };
  expect(allowsFlavor(project, flavor)).toBe(expected);
});

test('autonomy off means auto; the others have the names of the modes', () => {
  expect((['off', 'low', 'medium', 'high'] as const).map(approvalsOf)).toEqual([
    'auto',
    'low',
    'medium',
    'high',
  ]);
});

test.each<[string, boolean]>([
  ['A', true],
  ['_', true],
  ['api_KEY_2', true],
  ['constructor', true],
  ['n'.repeat(128), true],
  ['n'.repeat(129), false],
  ['', false],
  ['2A', false],
  ['A-B', false],
  ['A B', false],
  ['A\n', false],
  ['Ä', false],
  ['../A', false],
  ['__proto__', false],
])('%j as a name: %j', (name, isOne) => {
  expect(isSecretName(name)).toBe(isOne);
});

test.each<[string, string, boolean]>([
  ['one byte', 'x', true],
  ['lines', 'a\nb\r\n', true],
  ['8192 bytes', 'ü'.repeat(4096), true],
  ['8194 bytes', 'ü'.repeat(4097), false],
  ['nothing', '', false],
  ['a NUL', 'a\0b', false],
  ['half of a pair', '\ud83d', false],
])('%s as a value', (_, value, isOne) => {
  expect(isSecretValue(value)).toBe(isOne);
});

describe('the secrets of a project', () => {
  const fifty = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`S${index}`, 'v']));

  test('are fifty at most; one of them can be replaced', () => {
    expect(withSecret(fifty, 'S50', 'v')).toBe('too many');
    expect(withSecret(fifty, 'S49', 'w')).toEqual({ ...fifty, S49: 'w' });
  });

  test('have 60,000 bytes at most as JSON, where some characters need more than one', () => {
    const sixOf = (value: string) =>
      Object.fromEntries(['A', 'B', 'C', 'D', 'E', 'F'].map((n) => [n, value]));
    expect(withSecret(sixOf('x'.repeat(8192)), 'G', 'x'.repeat(8192))).toMatchObject({
      A: expect.anything(),
    });
    expect(withSecret(sixOf('"'.repeat(4100)), 'G', '"'.repeat(8192))).toBe('too large');
  });

  test('lose one by its name', () => {
    expect(withoutSecret({ A: 'a', B: 'b' }, 'A')).toEqual({ B: 'b' });
    expect(withoutSecret({ A: 'a' }, 'toString')).toEqual({ A: 'a' });
  });
});
