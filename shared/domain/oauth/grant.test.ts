/** The principal of a connected client: counted on its own, and found by its person. */
import { expect, test } from 'vitest';
import type { ProjectId } from '../ids.ts';
import { countedAs, type Principal } from '../principal.ts';
import { accessTokenOf, type Consent, clientPrincipal } from './grant.ts';

const project = '6f1f0a4c-53a1-4a33-8f6e-0d6d9b0f3c11' as ProjectId;
const ofPerson: Consent = { holder: 'person-ada', scope: `project:${project}`, person: 'ada' };
const ofToken: Consent = { holder: 'token-t', scope: `project:${project}`, token: 'hash of t' };

const principalOf = (consent: Consent, family: string, hash: string): Principal => {
  const client = { id: 'c', name: 'an editor' };
  return clientPrincipal(accessTokenOf({ id: 'g', family, client, consent }, { hash, now: 1 }));
};

test.each([
  ['a person', ofPerson],
  ['the holder of a token', ofToken],
])('each client of %s has a rate and calls of its own, whichever token it has', (_, consent) => {
  const keys = [
    principalOf(consent, 'one', 'first'),
    principalOf(consent, 'one', 'second'),
    principalOf(consent, 'other', 'third'),
  ].map(countedAs);
  expect(keys).toEqual(['one', 'one', 'other']);
});

test('a client of a person is that person in everything else', () => {
  expect(principalOf(ofPerson, 'one', 'first')).toMatchObject({
    ...{ owner: 'person-ada', tokenHash: 'ada', isPerson: true, signIn: 'first' },
  });
});
