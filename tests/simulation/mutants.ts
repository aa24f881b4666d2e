/**
 * `npm run sim:mutants [-- --only NAME,... --seeds N --from K --note]`: shows that the simulation bites. Each deliberate bug of
 * mutants/*.patch is applied to a copy, never to the checkout, and tried until a seed catches it. Its second line may name the seed that
 * caught it last, which is tried first; `--note` writes it. One that needs a coincidence which random faults meet too seldom names a
 * test there, which must fail. One that is not caught, or that does not apply any more, fails.
 */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const folder = join(import.meta.dirname, 'mutants');
const simulated = ['package.json', 'shared', 'functions/janitor', 'tests/simulation', 'tests/fake.ts'];
const atOnce = 2;
const outputBytesMax = 16 * 1_048_576;
const missed = 'NOT CAUGHT';

type Outcome = { readonly name: string; readonly verdict: string; readonly isCaught: boolean };

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    seeds: { type: 'string', default: '2000' },
    from: { type: 'string', default: '1' },
    note: { type: 'boolean', default: false },
  },
});

/** The lines before the change. */
type Head = { readonly why: string; readonly test?: string; readonly seed?: string };

const headOf = (patch: string): Head => {
  const [why = '', second = ''] = patch.split('\n');
  const [, word, value] = /^(Test|Seed): (\S+)$/.exec(second) ?? [];
  if (value === undefined) return { why };
  return word === 'Seed' ? { why, seed: value } : { why, test: value };
};

const tryOne = async (file: string, { test, seed }: Head): Promise<Outcome> => {
  const name = file.replace('.patch', '');
  const home = await mkdtemp(join(tmpdir(), 'sallyport-mutant-'));
  try {
    for (const path of test === undefined ? simulated : await allFiles())
      await cp(join(root, path), join(home, path), { recursive: true });
    await symlink(join(root, 'node_modules'), join(home, 'node_modules'));
    await run('patch', [
      '--strip=1',
      '--silent',
      '--fuzz=2',
      `--directory=${home}`,
      '--input',
      join(folder, file),
    ]);
    const verdict = await (test === undefined ? simulate(home, seed) : runTest(home, test));
    return { name, verdict, isCaught: !verdict.startsWith('NOT') };
  } catch (error) {
    return { name, verdict: `NOT APPLIED ${error}`, isCaught: false };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
};

/** Of the working tree, in which `node_modules` is linked instead. */
const allFiles = async (): Promise<readonly string[]> =>
  (await run('git', ['ls-files'], { cwd: root, maxBuffer: outputBytesMax })).stdout.trim().split('\n');

type Seeds = { readonly seeds: string; readonly from: string };

const simulate = async (home: string, known: string | undefined): Promise<string> => {
  const verdict = known === undefined ? missed : await simulateSeeds(home, { seeds: '1', from: known });
  return verdict.startsWith(missed) ? simulateSeeds(home, values) : verdict;
};

const simulateSeeds = async (home: string, { seeds, from }: Seeds): Promise<string> => {
  const main = join(home, 'tests/simulation/main.ts');
  const { stdout = '', stderr = '' } = await outputOf(home, [
    ...[main, '--seeds', seeds, '--from', from, '--lines', '0', '--workers', '1'],
  ]);
  const lines = stdout.split('\n');
  const at = lines.findIndex((line) => line.startsWith('seed '));
  return at < 0 ? `${missed} ${stdout}${stderr}` : `${lines[at]}:${lines[at + 1]}`;
};

const runTest = async (home: string, test: string): Promise<string> => {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const { stdout = '', stderr = '' } = await outputOf(home, [
    ...[vitest, 'run', '--reporter', 'tap-flat', test],
  ]);
  const failed = stdout.split('\n').find((line) => line.startsWith('not ok'));
  return failed ?? `${missed} ${stdout}${stderr}`;
};

type Output = { readonly stdout?: string; readonly stderr?: string };

/** An exit code other than 0 is no error here. */
const outputOf = (home: string, args: readonly string[]): Promise<Output> =>
  run(process.execPath, args, { cwd: home, maxBuffer: outputBytesMax }).catch((error: Output) => error);

/** A seed that caught it, where one did. */
type Found = { readonly patch: string; readonly seed: string | undefined };

const note = async (file: string, { patch, seed }: Found): Promise<void> => {
  if (seed === undefined) return;
  const [why, , ...rest] = patch.split('\n');
  await writeFile(join(folder, file), [why, `Seed: ${seed}`, ...rest].join('\n'));
};

const files = (await readdir(folder))
  .filter((file) => file.endsWith('.patch') && values.only.split(',').some((name) => file.includes(name)))
  .sort();
const outcomes: Outcome[] = [];
const worker = async (): Promise<void> => {
  for (let file = files.shift(); file !== undefined; file = files.shift()) {
    const patch = await readFile(join(folder, file), 'utf8');
    const head = headOf(patch);
    const outcome = await tryOne(file, head);
    outcomes.push(outcome);
    process.stdout.write(`${outcome.name} (${head.why})\n  ${outcome.verdict}\n`);
    if (values.note) await note(file, { patch, seed: /^seed (\d+)/.exec(outcome.verdict)?.[1] });
  }
};
await Promise.all(Array.from({ length: atOnce }, worker));
const misses = outcomes.filter(({ isCaught }) => !isCaught);
process.stdout.write(`${outcomes.length - misses.length} of ${outcomes.length} caught\n`);
process.exitCode = misses.length > 0 || outcomes.length === 0 ? 1 : 0;
