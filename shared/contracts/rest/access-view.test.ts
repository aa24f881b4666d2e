import { expect, test } from 'vitest';
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
  const view = accessView({ scope });
  expect(view).toEqual(seen);
  expect(accessAnswer.parse(view)).toEqual(view);
});
