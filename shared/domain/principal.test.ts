import { expect, test } from 'vitest';
import { decodeScope, isExpired, maskToken, ownerOf } from './principal.ts';

const project = '6f1f0a4c-53a1-4a33-8f6e-0d6d9b0f3c11';

test.each(['admin', 'admin:ro', `project:${project}`, `project:${project}:ro`])('%s is a scope', (scope) => {
  expect(decodeScope(scope)).toBe(scope);
});

test.each(['', 'root', 'admin:rw', 'project:', 'project:me', `project:${project}:rw`])(
  '%s is not a scope',
  (scope) => {
    expect(decodeScope(scope)).toBeUndefined();
  },
);

test('the id of a scope is read in any case', () => {
  expect(decodeScope(`project:${project.toUpperCase()}:ro`)).toBe(`project:${project}:ro`);
});

test('a project token may access its project, an admin token the deployment', () => {
  expect([ownerOf('admin'), ownerOf('admin:ro'), ownerOf(`project:${project}:ro`)]).toEqual([
    'deployment',
    'deployment',
    project,
  ]);
});

test('a token of thirteen characters and more shows its ends, a shorter one nothing', () => {
  expect([maskToken('sp_0123456789'), maskToken('sp_012345678'), maskToken('')]).toEqual([
    'sp_01234...6789',
    '***',
    '***',
  ]);
});

test('a token is valid until the moment it expires', () => {
  expect([isExpired({ expiresAt: 10 }, 9), isExpired({ expiresAt: 10 }, 10), isExpired({}, 1e15)]).toEqual([
    false,
    true,
    false,
  ]);
});
