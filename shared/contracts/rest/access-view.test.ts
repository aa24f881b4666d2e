import { expect, test } from 'vitest';
import { deploymentOwner, ownerOf } from '#shared/domain/principal.ts';
import { accessAnswer, accessView } from './access-view.ts';

const project = '0b5ff1c6-0a3f-4d0e-9d6e-6f1f7a2b3c4d';

test.each([
  [
    'admin',
    {
      scope: 'admin',
      may: ['any', 'global:read', 'global:write', 'admin:read', 'admin', 'own:read', 'own:write'],
    },
  ],
  ['admin:ro', { scope: 'admin:ro', may: ['any', 'global:read', 'admin:read', 'own:read'] }],
  [
    `project:${project}`,
    { scope: `project:${project}`, project, may: ['any', 'global:read', 'own:read', 'own:write'] },
  ],
  [
    `project:${project}:ro`,
    { scope: `project:${project}:ro`, project, may: ['any', 'global:read', 'own:read'] },
  ],
] as const)('%s sees its permissions', (scope, seen) => {
  const view = accessView({ owner: ownerOf(scope), scope, tokenHash: 'f00d'.repeat(16) });
  expect(view).toEqual({ ...seen, id: 'f00df00df00d' });
  expect(accessAnswer.parse(view)).toEqual(view);
});

test('a token is told by its id, a person by what the provider says of them, and not by a name', () => {
  const about = { owner: deploymentOwner, scope: 'admin', name: 'ada' } as const;
  const token = accessView({ ...about, tokenHash: 'a'.repeat(64), tokenId: 't1' });
  const person = accessView({ ...about, tokenHash: 'b'.repeat(64), isPerson: true });
  expect([token.id, person.id]).toEqual(['t1', 'b'.repeat(12)]);
});
