/** The official conformance suite, as a program: what it says of a server, scenario by scenario. */
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type Check = { readonly id: string; readonly status: string; readonly errorMessage?: string };
/** The checks of each scenario that ran, under its name. */
export type Verdicts = Readonly<Record<string, readonly Check[]>>;

const program = join(
  import.meta.dirname,
  '../../node_modules/@modelcontextprotocol/conformance/dist/index.js',
);

export const runSuite = async (url: string, options: readonly string[]): Promise<Verdicts> => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-conformance-'));
  try {
    const child = spawn(process.execPath, [program, 'server', '--url', url, '-o', folder, ...options], {
      stdio: ['ignore', 'ignore', 'ignore'],
    });
    await new Promise((resolve) => child.once('exit', resolve));
    return await verdictsIn(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** Of a scenario that came to no end. */
const unfinished = JSON.stringify([{ id: 'unfinished', status: 'FAILURE' }]);

/** A folder is `server-<scenario>-<time>`. */
const verdictsIn = async (folder: string): Promise<Verdicts> => {
  const names = await readdir(folder);
  const read = names.map(async (name): Promise<[string, readonly Check[]]> => {
    const scenario = name.replace(/^server-/, '').replace(/-\d{4}-\d{2}-\d{2}T.*$/, '');
    const text = await readFile(join(folder, name, 'checks.json'), 'utf8').catch(() => unfinished);
    return [scenario, JSON.parse(text)];
  });
  return Object.fromEntries(await Promise.all(read));
};

/** Failures and warnings by `<scenario>:<check>`, with the suite's message. */
export const failuresOf = (verdicts: Verdicts): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(verdicts).flatMap(([scenario, checks]) =>
      checks
        .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
        .map(({ id, errorMessage }) => [`${scenario}:${id}`, errorMessage ?? '']),
    ),
  );
