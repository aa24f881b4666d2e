import { expect, test } from 'vitest';
import { metricNames } from '#shared/domain/metrics.ts';
import { errorRules } from '#shared/errors.ts';
import { brokenRepositoryFolder, readRepository, repositoryFolder } from './repository.ts';
import { metricComplaints, runbookComplaints } from './vocabulary.ts';

const files = readRepository(repositoryFolder);
const brokenFiles = readRepository(brokenRepositoryFolder);

test('every error code has one heading in the runbook', () => {
  expect(runbookComplaints(files, Object.keys(errorRules))).toEqual([]);
});

test('every metric is emitted or read by code', () => {
  expect(metricComplaints(files, metricNames)).toEqual([]);
});

test('a code without a heading and a heading without a code are found', () => {
  expect(runbookComplaints(brokenFiles, ['conflict', 'forbidden', 'not_found'])).toEqual([
    'forbidden has no heading',
    'made_up is no error code',
    'not_found has two headings',
  ]);
});

test('a metric that only its list and a test name is found', () => {
  expect(metricComplaints(brokenFiles, ['LinesWritten', 'LinesLost', 'LinesTested'])).toEqual([
    'LinesLost is used by no code',
    'LinesTested is used by no code',
  ]);
});
