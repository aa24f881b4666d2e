/** The options that documents, and the advice of programs, give to `npm run`: the program of the script knows each. */
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import {
  isSource,
  isTest,
  type RepositoryFile,
  readRepository,
  repositoryFolder,
  textOf,
} from './repository.ts';

const files = readRepository(repositoryFolder);
const { scripts } = JSON.parse(textOf(files, 'package.json')) as {
  readonly scripts: Readonly<Record<string, string>>;
};
const programs = files.filter((file) => isSource(file) && !isTest(file));
/** Tests and `tests/` have programs, too. */
const sources = files.filter(({ path }) => /\.(?:ts|mjs)$/.test(path) && !path.endsWith('.test.ts'));
const texts = [
  ...files.filter(({ path }) => path.endsWith('.md') && !/^(?:CHANGELOG|docs\/adr\/)/.test(path)),
  ...programs,
];

const given = /npm run (?:-s |--silent )?([\w:]+) -- ([^\n`|]*)/g;
const option = /(?<![\w-])--([a-z][a-z-]*)/g;

/** From its own words on how it is used, or else anywhere in the folder of its entry. */
const knows = (script: string, name: string): boolean => {
  const entry = /(\S+)\.ts\b/.exec(scripts[script] ?? '')?.[1];
  if (entry === undefined) return false;
  const folder = sources.filter(({ path }) => path.startsWith(`${dirname(entry)}/`)).map(({ text }) => text);
  const usages = folder.flatMap((text) => {
    const [, usage] = text.split(`usage: npm run ${script} `);
    return usage === undefined ? [] : [usage.split('].join(')[0] ?? ''];
  });
  const named = new RegExp(`(?<![\\w-])(?:--${name}|'${name}'|${name}:)(?![\\w-])`);
  return (usages.length > 0 ? usages : folder).some((text) => named.test(text));
};

const complaintsOf = (read: readonly Pick<RepositoryFile, 'path' | 'text'>[]): readonly string[] =>
  read.flatMap(({ path, text }) =>
    Array.from(text.matchAll(given)).flatMap(([, script = '', rest = '']) =>
      Array.from(rest.matchAll(option), ([, name = '']) => name)
        .filter((name) => !knows(script, name))
        .map((name) => `${path} gives --${name} to ${script}, which does not know it`),
    ),
  );

test('every option of a command is known to its program', () => {
  expect(texts.flatMap(({ text }) => [...text.matchAll(given)]).length).toBeGreaterThan(20);
  expect(complaintsOf(texts)).toEqual([]);
});

test('an option that a program does not know is found', () => {
  const text =
    '`npm run deploy -- --stage staging --yess`\n`npm run operator -- --hours 6 --day 2`\n`npm run sim -- --sedes 5`';
  expect(complaintsOf([{ path: 'page.md', text }])).toEqual([
    'page.md gives --yess to deploy, which does not know it',
    'page.md gives --day to operator, which does not know it',
    'page.md gives --sedes to sim, which does not know it',
  ]);
});
