import { expect, test } from 'vitest';
import { invariantComplaints, statedIds } from './invariant-ids.ts';
import { brokenRepositoryFolder, readRepository, repositoryFolder } from './repository.ts';

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
