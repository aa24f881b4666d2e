/**
 * The numbered statements of docs/spec (T1, S4, A12): where each is stated, and where it is cited.
 *
 * A specification states an id at the start of a line, in bold (`**T4. A turn decides ...**`) or as the first
 * cell of a table; a table that lists ids stated in bold above it is an index, not a second statement.
 * Code and tests cite it alone (`T4`); a range (`T1..T7`) points the reader somewhere and proves nothing.
 */
import { expect, test } from 'vitest';
import {
  brokenRepositoryFolder,
  isSource,
  isTest,
  type RepositoryFile,
  readRepository,
  repositoryFolder,
} from './repository.ts';

const boldStatement = /^(?:- )?\*\*([A-Z]{1,2}\d{1,2})\b/gm;
const rowStatement = /^\| ([A-Z]{1,2}\d{1,2}) \|/gm;
const citation = /(?<![\w-])([A-Z]{1,2}\d{1,2})(?![\w-])/g;
const range = /\b[A-Z]{1,2}\d{1,2}\.\.[A-Z]{1,2}\d{1,2}\b/g;
/** Names of the world, not numbers of ours: no specification may give a statement such a name. */
const foreignNames: ReadonlySet<string> = new Set(['S3']);

const matches = (text: string, pattern: RegExp): readonly string[] =>
  Array.from(text.matchAll(pattern), ([, id = '']) => id);

const citationsIn = (files: readonly RepositoryFile[]): Set<string> =>
  new Set(files.flatMap(({ text }) => matches(text.replaceAll(range, ''), citation)));

const statementsBy = (files: readonly RepositoryFile[], pattern: RegExp): readonly string[] =>
  files.filter(({ path }) => path.startsWith('docs/spec/')).flatMap(({ text }) => matches(text, pattern));

const repeated = (ids: readonly string[]): readonly string[] =>
  ids.filter((id, index) => ids.indexOf(id) !== index);

const statedIds = (files: readonly RepositoryFile[]): Set<string> =>
  new Set([boldStatement, rowStatement].flatMap((pattern) => statementsBy(files, pattern)));

const invariantComplaints = (files: readonly RepositoryFile[]): readonly string[] => {
  const stated = statedIds(files);
  const twice = [boldStatement, rowStatement].flatMap((pattern) => repeated(statementsBy(files, pattern)));
  const series = new Set(Array.from(stated, (id) => id.replace(/\d+$/, '')));
  const sources = files.filter(isSource);
  const inCode = citationsIn(sources.filter((file) => !isTest(file)));
  const inTests = citationsIn(sources.filter(isTest));
  const isOfUs = (id: string): boolean => series.has(id.replace(/\d+$/, '')) && !foreignNames.has(id);
  return [
    ...twice.map((id) => `${id} is stated twice`),
    ...[...stated.intersection(foreignNames)].map((id) => `${id} is the name of something else`),
    ...[...stated.difference(inCode)].map((id) => `${id} is cited by no code`),
    ...[...stated.difference(inTests)].map((id) => `${id} is cited by no test`),
    ...[...inCode.union(inTests).difference(stated)]
      .filter(isOfUs)
      .map((id) => `${id} is cited and stated nowhere`),
  ].toSorted();
};

const files = readRepository(repositoryFolder);

test('every invariant of the specifications is cited by code and by a test, and every citation is stated', () => {
  expect(statedIds(files).size).toBeGreaterThan(0);
  expect(invariantComplaints(files)).toEqual([]);
});

test('an invariant without code, test or statement is found', () => {
  expect(invariantComplaints(readRepository(brokenRepositoryFolder))).toEqual([
    'Q2 is cited by no test',
    'Q3 is cited by no code',
    'Q4 is cited by no code',
    'Q4 is cited by no test',
    'Q5 is stated twice',
    'Q9 is cited and stated nowhere',
    'S3 is the name of something else',
  ]);
});
