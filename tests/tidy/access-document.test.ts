import { expect, test } from 'vitest';
import { declaredRoutes, openRoutes } from '../../functions/api/openapi/document.ts';
import { previewRoute } from '../../functions/api/preview-routes.ts';
import { toolbox } from '../../functions/mcp/toolbox.ts';
import { readRepository, repositoryFolder, textOf } from './repository.ts';

const text = textOf(readRepository(repositoryFolder), 'docs/spec/access.md');

const section = (heading: string): readonly (readonly string[])[] =>
  (text.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    );

test('every route is in the access document with what it needs', () => {
  const routes = [
    ...declaredRoutes(),
    ...openRoutes.map((route) => ({ ...route, resource: undefined })),
    { ...previewRoute, method: 'ANY' },
  ].map(({ method, path, needs, resource = '–' }) => [
    `${method} ${path.replace('/api', '').replace('{proxy+}', '{path}')}`,
    needs,
    resource,
  ]);
  expect(section('Routes').toSorted()).toEqual(routes.toSorted());
});

test('every tool, or each of its actions, is in the access document with what it needs', () => {
  const tools = toolbox.flatMap(({ name, needs }) =>
    typeof needs === 'string'
      ? [[name, needs]]
      : Object.entries(needs).map(([action, need]) => [`${name} ${action}`, need]),
  );
  expect(section('Tools').toSorted()).toEqual(tools.toSorted());
});
