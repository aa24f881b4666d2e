/** Tests of this repository, run by a proof in a process of their own: how many pass, and each that does not. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inRepository } from '../../infra/constructs/repository-path.ts';
import { run } from './programs.ts';

export type Suite = {
  readonly project: string;
  readonly files: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
};

export type SuiteReport = { readonly summary: string; readonly faults: readonly string[] };

export const runSuite = async ({ project, files, variables }: Suite): Promise<SuiteReport> => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'sallyport-suites-'));
  const report = join(folder.path, 'report.json');
  const words = ['run', '--project', project, '--reporter', 'json', '--outputFile', report, ...files];
  const vitest = inRepository('node_modules/vitest/vitest.mjs');
  const { code, out } = await run(process.execPath, [vitest, ...words], {
    folder: inRepository('.'),
    variables,
  });
  if (!existsSync(report)) throw new Error(`vitest ended with ${code}: ${out}`);
  const { numTotalTests, numPassedTests, testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  const faults = testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status !== 'passed');
    if (failed.length === 0 && status !== 'passed') return [`${name}: ${message}`];
    return failed.map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages.join(' ')}`);
  });
  // An error outside of any test fails the run, and no test of it.
  if (code !== 0 && faults.length === 0) faults.push(`vitest ended with ${code}: ${out}`);
  return { summary: `${numPassedTests} of ${numTotalTests} tests pass`, faults };
};

type Report = {
  readonly numTotalTests: number;
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
};
