import { expect, test } from 'vitest';
import type { OwnerId, ProjectId } from './ids.ts';
import { allowsFlavor, approvalsOf, theDefaultProject } from './project.ts';

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

test('an autonomy of off asks nobody; the others are called as our modes', () => {
  expect((['off', 'low', 'medium', 'high'] as const).map(approvalsOf)).toEqual([
    'auto',
    'low',
    'medium',
    'high',
  ]);
});
