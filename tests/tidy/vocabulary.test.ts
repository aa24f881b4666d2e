/**
 * Words that are written once and must be kept by others: error codes by the runbook, metrics by the code.
 *
 * A code that a client can meet and an operator cannot look up is half an error; a metric that nobody
 * emits is an alarm that never rings.
 */
import { expect, test } from 'vitest';
import { metricNames } from '#shared/domain/metrics.ts';
import { errorRules } from '#shared/errors.ts';
import {
  brokenRepositoryFolder,
  isSource,
  isTest,
  type RepositoryFile,
  readRepository,
  repositoryFolder,
  textOf,
} from './repository.ts';

const runbookPath = 'docs/runbook.md';
const metricsPath = 'shared/domain/metrics.ts';
/** A heading that is nothing but a code: `### \`conflict\``. Other headings are free. */
const codeHeading = /^#{2,4} `([a-z]+(?:_[a-z]+)*)`\s*$/gm;

const runbookComplaints = (files: readonly RepositoryFile[], codes: readonly string[]): readonly string[] => {
  const headings = Array.from(textOf(files, runbookPath).matchAll(codeHeading), ([, code = '']) => code);
  return [
    ...codes.filter((code) => !headings.includes(code)).map((code) => `${code} has no heading`),
    ...headings.filter((code) => !codes.includes(code)).map((code) => `${code} is no error code`),
    ...headings
      .filter((code, index) => headings.indexOf(code) !== index)
      .map((code) => `${code} has two headings`),
  ];
};

const metricComplaints = (files: readonly RepositoryFile[], names: readonly string[]): readonly string[] => {
  const programs = files.filter((file) => isSource(file) && !isTest(file) && file.path !== metricsPath);
  return names
    .filter((name) => !programs.some(({ text }) => text.includes(`'${name}'`)))
    .map((name) => `${name} is used by no code`);
};

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
