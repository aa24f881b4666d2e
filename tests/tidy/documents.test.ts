import { expect, test } from 'vitest';
import {
  commandComplaints,
  computedPathComplaints,
  decisionComplaints,
  folderComplaints,
  linkComplaints,
  namedFileComplaints,
  pathComplaints,
  sectionComplaints,
} from './documents.ts';
import { brokenRepositoryFolder, readRepository, repositoryFolder } from './repository.ts';

const files = readRepository(repositoryFolder);
const brokenFiles = readRepository(brokenRepositoryFolder);

test.each([
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'docs/adr/README.md',
  'docs/runbook.md',
])('%s exists', (path) => {
  expect(files.map((file) => file.path)).toContain(path);
});

test('every command a document names is an npm script', () => {
  expect(commandComplaints(files)).toEqual([]);
});

test('every link from a document to a file and a heading resolves', () => {
  expect(linkComplaints(files)).toEqual([]);
});

test('every section that is named by its title exists', () => {
  expect(sectionComplaints(files)).toEqual([]);
});

test('every file and folder that a document names exists', () => {
  expect(pathComplaints(files)).toEqual([]);
});

test('every folder in the table of ARCHITECTURE.md exists', () => {
  expect(folderComplaints(files)).toEqual([]);
});

test('every file that a source names by its pieces exists', () => {
  expect(computedPathComplaints(files)).toEqual([]);
});

test('every file that a source names by its path exists', () => {
  expect(namedFileComplaints(files)).toEqual([]);
});

test('every decision record has its number and a status, and is listed', () => {
  expect(decisionComplaints(files)).toEqual([]);
});

test('a command that does not exist is found', () => {
  expect(commandComplaints(brokenFiles)).toEqual([
    'README.md names the command start, which package.json has not',
    'README.md names the command fly, which package.json has not',
  ]);
});

test('a broken link is found', () => {
  expect(linkComplaints(brokenFiles)).toEqual([
    'README.md links to docs/spec/queue.md#q1, which is not there',
    'README.md links to docs/missing.md, which is not there',
    'docs/adr/README.md links to 0009-gone.md, which is not there',
  ]);
});

test('a section that does not exist is found', () => {
  expect(sectionComplaints(brokenFiles)).toEqual([
    'README.md names the section "Nothing" of docs/spec/queue.md, which is not there',
  ]);
});

test('a file or folder that does not exist is found', () => {
  expect(pathComplaints(brokenFiles)).toEqual([
    'README.md names shared/<name>-missing.ts, which is not there',
    'README.md names missing.ts, which is not there',
    'README.md names shared/missing, which is not there',
  ]);
});

test('a folder that ARCHITECTURE.md names and that does not exist is found', () => {
  expect(folderComplaints(brokenFiles)).toEqual([
    'ARCHITECTURE.md names the folder shared/attic, which is not there',
    'ARCHITECTURE.md names the folder cellar, which is not there',
  ]);
});

test('a file that moved away from its computed name is found', () => {
  expect(computedPathComplaints(brokenFiles)).toEqual([
    'shared/names-moved-file.ts names functions/moved/handler.ts, which is not there',
  ]);
});

test('a file that moved away from its name in a comment is found', () => {
  expect(namedFileComplaints(brokenFiles)).toEqual([
    'shared/names-moved-file.ts names docs/spec/gone.md, which is not there',
  ]);
});

test('a decision record without number, status or listing is found', () => {
  expect(decisionComplaints(brokenFiles)).toEqual([
    '0001-status.md has no status',
    '0003-number.md is not number 0002',
    '0003-number.md is not listed in docs/adr/README.md',
    'Notes.md is not number 0003',
    'Notes.md has no status',
  ]);
});
