/**
 * The end-to-end tests in the strict mode of the embedded cloud, one file after the other: cold environments that end, late and
 * doubled invocations, the limits of CloudFront. It is made when it is asked for: it takes as long as all of these tests.
 *
 * A run that was ended goes on: files that passed in this state of the repository are not run again, one with a fault is. A file whose tests end without a
 * report is a fault of that file, and no end of the run.
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { inRepository } from '../../infra/constructs/repository-path.ts';
import { run } from './programs.ts';
import type { Proof } from './proof.ts';
import { runSuite, type SuiteReport } from './suite.ts';
import { aligned } from './summary.ts';

export const endToEndInStrictMode: Proof = {
  name: 'strict',
  about: 'the end-to-end tests in the strict mode of the embedded cloud',
  isOnRequest: true,
  prove: async (say) => {
    const files = globSync('tests/e2e/**/*.test.ts', { cwd: inRepository('.') }).sort();
    const verdicts = await openVerdicts(inRepository('coverage/strict-mode.json'), await stateOfRepository());
    const left = files.filter((file) => !verdicts.hasPassed(file));
    say(`${files.length} files, of which ${files.length - left.length} have passed in an earlier run`);
    for (const file of left) {
      const startedAt = performance.now();
      const report = await runStrictly(file);
      const seconds = Math.round((performance.now() - startedAt) / 1000);
      await verdicts.record({ file, seconds, ...report });
      say(`${file}: ${report.summary}`);
    }
    const found = files.flatMap((file) => verdicts.of(file) ?? []);
    for (const line of tableOf(found)) say(line);
    return {
      version: `${files.length} files, Node ${process.version}`,
      faults: found.flatMap(({ file, faults }) => faults.map((fault) => `${file}, ${fault}`)),
    };
  },
};

const runStrictly = async (file: string): Promise<SuiteReport> => {
  try {
    return await runSuite({ project: 'e2e', files: [file], variables: { SALLYPORT_STRICT: 'true' } });
  } catch (error) {
    return { summary: 'no report', faults: [String(error)] };
  }
};

/** Its commit, and what was changed since. */
const stateOfRepository = async (): Promise<string> => {
  const hash = createHash('sha256');
  for (const words of [
    ['rev-parse', 'HEAD'],
    ['diff', 'HEAD', '--binary'],
    ['status', '--porcelain'],
  ]) {
    const { code, out } = await run('git', words, { folder: inRepository('.') });
    if (code !== 0) throw new Error(`git ${words.join(' ')} ended with ${code}: ${out}`);
    hash.update(out);
  }
  return hash.digest('hex');
};

const tableOf = (verdicts: readonly Verdict[]): readonly string[] =>
  aligned([
    ['file', 'tests', 'faults', 'time'],
    ...verdicts.map(({ file, summary, faults, seconds }) => [
      ...[file, summary, String(faults.length), `${seconds} s`],
    ]),
  ]);

export type Verdict = {
  readonly file: string;
  readonly summary: string;
  readonly seconds: number;
  readonly faults: readonly string[];
};

type Verdicts = {
  readonly of: (file: string) => Verdict | undefined;
  readonly hasPassed: (file: string) => boolean;
  readonly record: (verdict: Verdict) => Promise<void>;
};

type Kept = { readonly state: string; readonly verdicts: readonly Verdict[] };

/** Kept in a file. They hold for one state of the repository; those of another are dropped. */
export const openVerdicts = async (path: string, state: string): Promise<Verdicts> => {
  const kept = existsSync(path) ? (JSON.parse(await readFile(path, 'utf8')) as Kept) : undefined;
  const verdicts = new Map(
    kept?.state === state ? kept.verdicts.map((verdict) => [verdict.file, verdict] as const) : [],
  );
  return {
    of: (file) => verdicts.get(file),
    hasPassed: (file) => verdicts.get(file)?.faults.length === 0,
    record: async (verdict) => {
      verdicts.set(verdict.file, verdict);
      await mkdir(dirname(path), { recursive: true });
      // A run that ends while it writes leaves the last whole file.
      await writeFile(`${path}.next`, JSON.stringify({ state, verdicts: [...verdicts.values()] }, null, 1));
      await rename(`${path}.next`, path);
    },
  };
};
