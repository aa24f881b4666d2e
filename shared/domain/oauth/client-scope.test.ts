import { expect, test } from 'vitest';
import type { ProjectId } from '../ids.ts';
import type { Scope } from '../principal.ts';
import { decodeWishes, mayGive, offerOf } from './client-scope.ts';

const one = '11111111-2222-4333-8444-555555555555' as ProjectId;
const two = '66666666-7777-4888-9999-000000000000' as ProjectId;

const wishesOf = (text?: string) => {
  const decoded = decodeWishes(text);
  if (decoded.kind === 'refused') throw new Error(decoded.problem);
  return decoded.wishes;
};

test.each<[string | undefined, Scope, ReturnType<typeof offerOf>]>([
  [undefined, 'admin', { access: ['write', 'read'] }],
  ['openid profile', 'admin:ro', { access: ['read'] }],
  ['own:write own:ro', `project:${one}`, { access: ['write', 'read'], project: one }],
  ['own:ro', `project:${one}`, { access: ['read'], project: one }],
  ['own:write', `project:${one}:ro`, { access: ['read'], project: one }],
  [`project:${two}`, 'admin', { access: ['write', 'read'], project: two }],
  [`project:${two}`, `project:${one}`, undefined],
])('OA6: who is asked for %s and has %s may give %o', (asked, person, offer) => {
  expect(offerOf(person, wishesOf(asked))).toEqual(offer);
});

test.each(['admin', 'admin:ro', 'own:ro admin'])('OA6: %s is asked for in vain', (text) => {
  expect(decodeWishes(text).kind).toBe('refused');
});

test('OA6: no scope is given that was not asked for, or that the person has not', () => {
  const scopes: Scope[] = ['admin', 'admin:ro', `project:${one}`, `project:${one}:ro`, `project:${two}`];
  const given = (person: Scope, asked?: string) =>
    scopes.filter((scope) => mayGive(person, wishesOf(asked), scope));
  expect(given('admin')).toEqual([`project:${one}`, `project:${one}:ro`, `project:${two}`]);
  expect(given('admin:ro')).toEqual([`project:${one}:ro`]);
  expect(given('admin', 'own:ro')).toEqual([`project:${one}:ro`]);
  expect(given(`project:${one}`)).toEqual([`project:${one}`, `project:${one}:ro`]);
  expect(given(`project:${one}:ro`)).toEqual([`project:${one}:ro`]);
  expect(given('admin', `project:${one}`)).toEqual([`project:${one}`, `project:${one}:ro`]);
});
