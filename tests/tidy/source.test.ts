import { expect, test } from 'vitest';
import {
  brokenRepositoryFolder,
  isSource,
  type RepositoryFile,
  readRepository,
  repositoryFolder,
} from './repository.ts';
import { sourceRules } from './source-rules.ts';

const files = readRepository(repositoryFolder);
const ofLines = (name: string, count: number): RepositoryFile => ({
  path: `shared/${name}.ts`,
  text: `/** A fixture. */\n${'export {};\n'.repeat(count - 1)}`,
});
const brokenFiles = [
  ...readRepository(brokenRepositoryFolder),
  ofLines('just-short-enough', 400),
  ofLines('too-long', 401),
];

test('the repository is read', () => {
  expect(files.map(({ path }) => path)).toContain('tests/tidy/source.test.ts');
  expect(files.filter(isSource).length).toBeGreaterThan(50);
});

test.each(sourceRules)('$name', ({ isBrokenBy }) => {
  expect(files.filter(isBrokenBy).map(({ path }) => path)).toEqual([]);
});

test('each rule finds the files that break it, and no other', () => {
  const found = sourceRules.map(({ name, isBrokenBy }) => [
    name,
    brokenFiles.filter(isBrokenBy).map(({ path }) => path),
  ]);
  expect(Object.fromEntries(found)).toEqual({
    'a source file opens with a header that says what it is': ['shared/no-header.ts'],
    'a source file is no longer than 400 lines': ['shared/too-long.ts'],
    'a file or folder is named by what it is about, not by the kind of drawer it is': [
      'shared/session-helpers.ts',
      'shared/session-manager.ts',
      'shared/types.ts',
      'shared/utils/text.ts',
    ],
    'unfinished work is marked only with the decision record that allows it': ['shared/unfinished.ts'],
    'the environment is read once, in the entry of a program': [
      'functions/api/handler.ts',
      'shared/reads-environment.ts',
    ],
    'a module registers no hook when it is imported, since the test files of a worker share it': [
      'shared/registers-hook.ts',
    ],
    'requests of the web app, the command line and the synthetic check are written in sdk': [
      'cli/wire-code.ts',
      'web/wire-code.vue',
    ],
    'no test limits how long something took by the clock': ['shared/timed.test.ts'],
    'nothing names a place on one machine': ['docs/machine-path.md'],
    'nothing names where packages come from': ['npm-settings', 'package-lock.json'],
  });
});
