/**
 * Words that are written once and must be kept by others: error codes by the runbook, metrics by the code.
 *
 * A code that a client can meet and an operator cannot look up is half an error; a metric that nobody
 * emits is an alarm that never rings.
 */
import { isSource, isTest, type RepositoryFile, textOf } from './repository.ts';

const runbookPath = 'docs/runbook.md';
const metricsPath = 'shared/domain/metrics.ts';
/** A heading that is nothing but a code: `### \`conflict\``. Other headings are free. */
const codeHeading = /^#{2,4} `([a-z]+(?:_[a-z]+)*)`\s*$/gm;

export const runbookComplaints = (
  files: readonly RepositoryFile[],
  codes: readonly string[],
): readonly string[] => {
  const headings = Array.from(textOf(files, runbookPath).matchAll(codeHeading), ([, code = '']) => code);
  return [
    ...codes.filter((code) => !headings.includes(code)).map((code) => `${code} has no heading`),
    ...headings.filter((code) => !codes.includes(code)).map((code) => `${code} is no error code`),
    ...headings
      .filter((code, index) => headings.indexOf(code) !== index)
      .map((code) => `${code} has two headings`),
  ];
};

export const metricComplaints = (
  files: readonly RepositoryFile[],
  names: readonly string[],
): readonly string[] => {
  const programs = files.filter((file) => isSource(file) && !isTest(file) && file.path !== metricsPath);
  return names
    .filter((name) => !programs.some(({ text }) => text.includes(`'${name}'`)))
    .map((name) => `${name} is used by no code`);
};
