import { describe, expect, test } from 'vitest';
import { decidePerson, isSignedIn, personKey } from './person.ts';
import type { Scope } from './principal.ts';

const project = '11111111-2222-4333-8444-555555555555';
const other = '99999999-2222-4333-8444-555555555555';
const identity = { issuer: 'https://id.example.com', subject: 'ada', expiresAt: 5000 };
const decide = (scopeValue: unknown, defaultScope?: Scope) =>
  decidePerson({ ...identity, scopeValue }, 'ab12', {
    scopeClaim: 'groups',
    ...(defaultScope === undefined ? {} : { defaultScope }),
  });
const scopeOf = (scopeValue: unknown, defaultScope?: Scope) => {
  const decision = decide(scopeValue, defaultScope);
  return decision.kind === 'person' ? decision.principal.scope : decision.problem;
};

test('a person is identified by a hash, whatever their scope', () => {
  for (const scope of ['admin', 'admin:ro', `project:${project}`, `project:${project}:ro`])
    expect(decide(scope)).toEqual({
      kind: 'person',
      principal: { owner: 'person-ab12', scope, tokenHash: 'ab12', isPerson: true, expiresAt: 5000 },
    });
});

describe('the claim', () => {
  test.each<[string, unknown, string]>([
    ['is a text', 'admin:ro', 'admin:ro'],
    ['is a list', ['admin:ro'], 'admin:ro'],
    ['is words, as in OAuth', `openid profile project:${project}`, `project:${project}`],
    ['holds what is for others, too', ['staff', 7, null, `project:${project}:ro`], `project:${project}:ro`],
    ['says the same twice', ['admin', 'admin'], 'admin'],
  ])('%s', (_what, value, scope) => {
    expect(scopeOf(value)).toBe(scope);
  });

  test.each<[string, unknown]>([
    ['is empty', ''],
    ['is an empty list', []],
    ['is null', null],
    ['is an object', { admin: true }],
    ['is a list in a list', [['admin']]],
    ['names no scope of ours', 'Admin'],
    ['names a project by no uuid', 'project:mine'],
    ['names a scope with something behind it', `project:${project}:rw`],
  ])('names no scope when it %s, and the default does not replace it', (_what, value) => {
    expect(scopeOf(value, 'admin')).toBe('the claim groups of this sign-in names no scope');
  });

  test('with two scopes is refused as ambiguous', () => {
    const words = 'the claim groups of this sign-in names more than one scope';
    expect(scopeOf([`project:${project}`, `project:${other}`])).toBe(words);
    expect(scopeOf('admin admin:ro', 'admin')).toBe(words);
  });
});

test('is replaced by the default if it is missing', () => {
  expect(scopeOf(undefined, `project:${project}`)).toBe(`project:${project}`);
  expect(scopeOf(undefined)).toBe('the claim groups of this sign-in is missing');
});

test('two people never share one key', () => {
  const keys = [
    personKey({ issuer: 'https://a', subject: 'b' }),
    personKey({ issuer: 'https://a', subject: 'c' }),
    personKey({ issuer: 'https://ab', subject: '' }),
    personKey({ issuer: 'https://a', subject: '' }),
  ];
  expect(new Set(keys).size).toBe(4);
});

test('a sign-in ends at its expiry, and one without an expiry is never valid', () => {
  expect(isSignedIn({ expiresAt: 5000 }, 4999)).toBe(true);
  expect(isSignedIn({ expiresAt: 5000 }, 5000)).toBe(false);
  expect(isSignedIn({}, 0)).toBe(false);
});
