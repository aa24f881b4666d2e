/** The folders of the use cases are in ARCHITECTURE.md in the order of their imports, and the files that it and the glossary name exist. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, normalize, relative } from 'node:path';
import { expect, test } from 'vitest';
import { repositoryFolder } from './repository.ts';

const application = 'shared/application';
const text = readFileSync(join(repositoryFolder, 'ARCHITECTURE.md'), 'utf8');

/** The names in code marks of the row of the table of folders. */
const order = Array.from(
  (/\| `shared\/application` \|(?<row>[^\n]*)/.exec(text)?.groups?.['row'] ?? '').matchAll(/`([a-z]+)`/g),
  ([, name = '']) => name,
);

const folderOf = (path: string): string => relative(application, path).split('/')[0] ?? '';

const importsOf = (path: string): readonly string[] =>
  Array.from(
    readFileSync(join(repositoryFolder, path), 'utf8').matchAll(/from '(\.[^']+)'/g),
    ([, target = '']) => normalize(join(path, '..', target)),
  ).filter((target) => target.startsWith(`${application}/`));

test('each folder of the use cases imports only those before it', () => {
  const files = globSync(`${application}/*/**/*.ts`, { cwd: repositoryFolder }).filter(
    (path) => !path.endsWith('.test.ts'),
  );
  expect(new Set(files.map(folderOf))).toEqual(new Set(order));
  const forward = files.flatMap((path) =>
    importsOf(path)
      .filter((target) => order.indexOf(folderOf(target)) > order.indexOf(folderOf(path)))
      .map((target) => `${path} imports ${target}`),
  );
  expect(forward).toEqual([]);
});

test.each(['ARCHITECTURE.md', 'docs/glossary.md'])('each file that %s names is there', (page) => {
  const named = Array.from(
    readFileSync(join(repositoryFolder, page), 'utf8').matchAll(/`([a-z-]+\/[a-z0-9/.-]+)`/g),
    ([, path = '']) => path,
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((path) => !existsSync(join(repositoryFolder, path)))).toEqual([]);
});
