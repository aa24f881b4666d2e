/**
 * `npm run sim:mutants [-- --only NAME,... --seeds N --from K]`: shows that the simulation bites. Each deliberate bug of mutants/*.patch is
 * applied to a copy, never to the checkout, and tried until a seed catches it. One that needs a coincidence which random faults meet too
 * seldom names a conformance test in its second line, which must fail. One that is not caught, or that does not apply any
 * more, fails.
 */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const folder = join(import.meta.dirname, 'mutants');
const simulated = ['package.json', 'shared', 'functions/janitor', 'tests/simulation', 'tests/fake.ts'];
const atOnce = 2;
const outputBytesMax = 16 * 1_048_576;

type Outcome = { readonly name: string; readonly verdict: string; readonly isCaught: boolean };

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    seeds: { type: 'string', default: '2000' },
    from: { type: 'string', default: '1' },
  },
});

const tryOne = async (file: string, conformance: string | undefined): Promise<Outcome> => {
  const name = file.replace('.patch', '');
  const home = await mkdtemp(join(tmpdir(), 'sallyport-mutant-'));
  try {
    for (const path of conformance === undefined ? simulated : await allFiles())
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
    const verdict = await (conformance === undefined ? simulate(home) : conform(home, conformance));
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

const simulate = async (home: string): Promise<string> => {
  const main = join(home, 'tests/simulation/main.ts');
  const { seeds, from } = values;
  const { stdout = '', stderr = '' } = await outputOf(home, [
    ...[main, '--seeds', seeds, '--from', from, '--lines', '0', '--workers', '1'],
  ]);
  const lines = stdout.split('\n');
  const at = lines.findIndex((line) => line.startsWith('seed '));
  return at < 0 ? `NOT CAUGHT ${stdout}${stderr}` : `${lines[at]}:${lines[at + 1]}`;
};

const conform = async (home: string, test: string): Promise<string> => {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const { stdout = '', stderr = '' } = await outputOf(home, [
    ...[vitest, 'run', '--project', 'conformance', '--reporter', 'tap-flat', test],
  ]);
  const failed = stdout.split('\n').find((line) => line.startsWith('not ok'));
  return failed ?? `NOT CAUGHT ${stdout}${stderr}`;
};

type Output = { readonly stdout?: string; readonly stderr?: string };

/** An exit code other than 0 is no error here. */
const outputOf = (home: string, args: readonly string[]): Promise<Output> =>
  run(process.execPath, args, { cwd: home, maxBuffer: outputBytesMax }).catch((error: Output) => error);

const files = (await readdir(folder))
  .filter((file) => file.endsWith('.patch') && values.only.split(',').some((name) => file.includes(name)))
  .sort();
const outcomes: Outcome[] = [];
const worker = async (): Promise<void> => {
  for (let file = files.shift(); file !== undefined; file = files.shift()) {
    const [why, second = ''] = (await readFile(join(folder, file), 'utf8')).split('\n');
    const outcome = await tryOne(file, /^Conformance: (\S+)$/.exec(second)?.[1]);
    outcomes.push(outcome);
    process.stdout.write(`${outcome.name} (${why})\n  ${outcome.verdict}\n`);
  }
};
await Promise.all(Array.from({ length: atOnce }, worker));
const missed = outcomes.filter(({ isCaught }) => !isCaught);
process.stdout.write(`${outcomes.length - missed.length} of ${outcomes.length} caught\n`);
process.exitCode = missed.length > 0 || outcomes.length === 0 ? 1 : 0;
