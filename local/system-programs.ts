/**
 * The system programs that sandboxes need: bubblewrap, and a Python outside home folders.
 *
 * As root on a Debian they are installed; otherwise one line says how. The sandbox host decides whether a machine
 * without them can run sandboxes at all.
 */
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

type Machine = {
  readonly hasProgram: (path: string) => boolean;
  readonly searchPath: string;
  readonly isRoot: boolean;
};

type Provision =
  | { readonly kind: 'complete' }
  | { readonly kind: 'install'; readonly packages: readonly string[] }
  | { readonly kind: 'advise'; readonly line: string };

const systemFolders = '/usr/local/bin:/usr/bin:/bin';

export const planProvision = ({ hasProgram, searchPath, isRoot }: Machine): Provision => {
  const isFound = (name: string): boolean =>
    `${searchPath}${delimiter}${systemFolders}`
      .split(delimiter)
      .some((folder) => hasProgram(join(folder, name)));
  // Sandboxes see programs below /usr alone, and the nested wall is built inside one.
  const packages = [
    ...(hasProgram('/usr/bin/bwrap') ? [] : ['bubblewrap']),
    ...(hasProgram('/usr/bin/python3') ? [] : ['python3']),
  ];
  if (packages.length === 0) return { kind: 'complete' };
  if (isRoot && isFound('apt-get')) return { kind: 'install', packages };
  const names = packages.join(' and ');
  return {
    kind: 'advise',
    line: `Sandboxes need ${names}: run "sudo apt-get install ${packages.join(' ')}", or use your system's package manager`,
  };
};

export const inspectMachine = (searchPath: string): Machine => ({
  searchPath,
  isRoot: process.getuid?.() === 0,
  hasProgram: (path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  },
});

type Progress = (line: string) => void;

/** Before anything starts a sandbox: `npm start`, the tests, the benches and the proofs. */
export const provideSystemPrograms = (
  { PATH = '' }: Readonly<Record<string, string | undefined>>,
  progress: Progress = (line) => process.stdout.write(`${line}\n`),
): Promise<void> => provision(planProvision(inspectMachine(PATH)), progress);

/** Prints its progress; a failed installation prints one line and the start goes on. */
export const provision = async (plan: Provision, progress: Progress): Promise<void> => {
  if (plan.kind === 'advise') progress(plan.line);
  if (plan.kind !== 'install') return;
  const names = plan.packages.join(' and ');
  progress(`Installing ${names} with apt-get`);
  const install = ['install', '-y', '-q', '--no-install-recommends', ...plan.packages];
  const isDone = (await aptGet(install)) || ((await aptGet(['update', '-q'])) && (await aptGet(install)));
  if (!isDone)
    progress(`Could not install ${names}. Run "apt-get install ${plan.packages.join(' ')}" to see why`);
};

const aptGet = (parameters: readonly string[]): Promise<boolean> =>
  new Promise((resolve) => {
    const environment = {
      PATH: '/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin',
      DEBIAN_FRONTEND: 'noninteractive',
    };
    const child = spawn('apt-get', parameters, { stdio: 'ignore', env: environment });
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
  });
