import { expect, test } from 'vitest';
import { scopeLabels, scopeOf } from './new-token.vue';

const id = '11111111-1111-4111-8111-111111111111';

test('a choice is a scope of the API', () => {
  expect(scopeOf({ reach: 'deployment', isReadOnly: false }, '')).toBe('admin');
  expect(scopeOf({ reach: 'deployment', isReadOnly: true }, id)).toBe('admin:ro');
  expect(scopeOf({ reach: 'project', isReadOnly: false }, id)).toBe(`project:${id}`);
  expect(scopeOf({ reach: 'project', isReadOnly: true }, id)).toBe(`project:${id}:ro`);
  expect(scopeOf({ reach: 'project', isReadOnly: false }, '')).toBeUndefined();
});

test('a scope has a title, with the name of its project when it is known', () => {
  const title = (scope: string, name?: string) => scopeLabels(scope, () => name).title;
  expect(title('admin')).toBe('Admin');
  expect(title('admin:ro')).toBe('Read-only admin');
  expect(title(`project:${id}`, 'Website')).toBe('Website');
  expect(title(`project:${id}:ro`, 'Website')).toBe('Website, read-only');
  expect(title(`project:${id}`)).toBe('project 11111111…');
});
