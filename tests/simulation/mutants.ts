/**
 * `npm run sim:mutants [-- --only NAME,... --seeds N --from K]`: shows that the simulation bites. Each deliberate bug of mutants/*.patch is
 * applied to a copy of what is simulated, never to the checkout, and tried until a seed catches it. One that is
 * not caught, or that does not apply any more, fails.
 */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const folder = join(import.meta.dirname, 'mutants');
const copied = ['package.json', 'shared', 'functions/janitor', 'tests/simulation', 'tests/fake.ts'];
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

const tryOne = async (file: string): Promise<Outcome> => {
  const name = file.replace('.patch', '');
  const home = await mkdtemp(join(tmpdir(), 'sallyport-mutant-'));
  try {
    for (const path of copied) await cp(join(root, path), join(home, path), { recursive: true });
    await symlink(join(root, 'node_modules'), join(home, 'node_modules'));
    await run('patch', [
      '--strip=1',
      '--silent',
      '--fuzz=2',
      `--directory=${home}`,
      '--input',
      join(folder, file),
    ]);
    const main = join(home, 'tests/simulation/main.ts');
    const found = await run(
      process.execPath,
      [main, '--seeds', values.seeds, '--from', values.from, '--lines', '0', '--workers', '1'],
      {
        cwd: home,
        maxBuffer: outputBytesMax,
      },
    ).catch((error: { readonly stdout?: string; readonly stderr?: string }) => error);
    const lines = (found.stdout ?? '').split('\n');
    const at = lines.findIndex((line) => line.startsWith('seed '));
    const isCaught = at >= 0;
    const verdict = isCaught ? `${lines[at]}:${lines[at + 1]}` : `NOT CAUGHT ${found.stdout}${found.stderr}`;
    return { name, verdict, isCaught };
  } catch (error) {
    return { name, verdict: `NOT APPLIED ${error}`, isCaught: false };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
};

const files = (await readdir(folder))
  .filter((file) => file.endsWith('.patch') && values.only.split(',').some((name) => file.includes(name)))
  .sort();
const outcomes: Outcome[] = [];
const worker = async (): Promise<void> => {
  for (let file = files.shift(); file !== undefined; file = files.shift()) {
    const [why] = (await readFile(join(folder, file), 'utf8')).split('\n');
    const outcome = await tryOne(file);
    outcomes.push(outcome);
    process.stdout.write(`${outcome.name} (${why})\n  ${outcome.verdict}\n`);
  }
};
await Promise.all(Array.from({ length: atOnce }, worker));
const missed = outcomes.filter(({ isCaught }) => !isCaught);
process.stdout.write(`${outcomes.length - missed.length} of ${outcomes.length} caught\n`);
process.exitCode = missed.length > 0 || outcomes.length === 0 ? 1 : 0;
