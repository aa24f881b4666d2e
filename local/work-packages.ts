/**
 * The packages that work in sandboxes needs, from Debian: installed in the background of a start, as root, so that the start
 * does not wait for them. Python code that imports one of them waits until they are there.
 *
 * Sandboxes see the system's programs, and a marker among them while an installation runs. A marker that is not renewed is
 * of a start that was killed, and holds nothing up.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pythonPackages } from '#shared/domain/template.ts';
import { inspectMachine } from './system-programs.ts';

type Machine = {
  readonly hasProgram: (path: string) => boolean;
  /** Modules that the system's Python cannot import. */
  readonly missingModules: readonly string[];
  readonly isRoot: boolean;
};

export type WorkPlan =
  | { readonly kind: 'complete' }
  | { readonly kind: 'install'; readonly packages: readonly string[] }
  | { readonly kind: 'advise'; readonly line: string };

/** Debian packages by the Python module that they bring. */
const modules: Readonly<Record<string, string>> = {
  ...Object.fromEntries(pythonPackages.map((name) => [name, `python3-${name}`])),
  pip: 'python3-pip',
  ensurepip: 'python3-venv',
};

/** Programs by the Debian package that has them. */
const programs: Readonly<Record<string, string>> = {
  git: '/usr/bin/git',
  curl: '/usr/bin/curl',
  jq: '/usr/bin/jq',
  ripgrep: '/usr/bin/rg',
  make: '/usr/bin/make',
  gcc: '/usr/bin/gcc',
};

export const planWorkPackages = ({ hasProgram, missingModules, isRoot }: Machine): WorkPlan => {
  const packages = [
    ...missingModules.map((module) => modules[module] ?? module),
    ...Object.keys(programs).filter((name) => !hasProgram(programs[name] ?? '')),
  ];
  if (packages.length === 0) return { kind: 'complete' };
  if (isRoot && hasProgram('/usr/bin/apt-get')) return { kind: 'install', packages };
  const line = `Code in sandboxes cannot use ${packages.join(', ')} yet. Run "${commandFor(packages)}" to install it.`;
  return { kind: 'advise', line };
};

const commandFor = (packages: readonly string[]): string =>
  `sudo apt-get install --no-install-recommends ${packages.join(' ')}`;

const listMissing = `import importlib.util, sys
print(*[name for name in sys.argv[1:] if importlib.util.find_spec(name) is None])`;
const inspectMsMax = 10_000;

/** Asks the Python that sandboxes have. One that does not answer has everything: nothing is known to be missing. */
export const inspectWork = async (searchPath: string): Promise<Machine> => {
  const { hasProgram, isRoot } = inspectMachine(searchPath);
  const missing = await new Promise<string>((resolve) => {
    const asked = ['-I', '-c', listMissing, ...Object.keys(modules)];
    execFile('/usr/bin/python3', asked, { timeout: inspectMsMax }, (_error, stdout) => resolve(stdout));
  });
  return { hasProgram, isRoot, missingModules: missing.split(/\s+/).filter((name) => name !== '') };
};

/** Read by `sandbox-task/interpreters/python/interpreter.py`, which sandboxes have with the rest of /usr. */
const markerFolder = '/usr/local/share/sallyport';
const renewMs = 2000;
/** The time that another installation on the machine is waited for, in seconds. */
const lockSecondsMax = 600;

export type Installation = { readonly ended: Promise<void>; readonly stop: () => void };

/** Returns at once. A stop leaves a running `apt-get` alone: a killed one leaves packages half configured. */
export const installWorkPackages = (
  plan: WorkPlan,
  {
    progress,
    aptGet = '/usr/bin/apt-get',
    folder = markerFolder,
  }: { readonly progress: (line: string) => void; readonly aptGet?: string; readonly folder?: string },
): Installation => {
  if (plan.kind === 'advise') progress(plan.line);
  if (plan.kind !== 'install') return { ended: Promise.resolve(), stop: () => undefined };
  const { packages } = plan;
  progress(`Installing ${packages.join(', ')} in the background: Python code that imports them waits`);
  const marker = mark(folder);
  let isStopped = false;
  const run = (parameters: readonly string[]): Promise<boolean> =>
    new Promise((resolve) => {
      const env = {
        PATH: '/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin',
        DEBIAN_FRONTEND: 'noninteractive',
      };
      // In a session of its own, which Ctrl-C does not reach.
      const child = spawn(aptGet, parameters, { stdio: 'ignore', env, detached: true });
      child.once('error', () => resolve(false));
      child.once('exit', (code) => resolve(code === 0));
    });
  const install = [
    'install',
    '-o',
    `DPkg::Lock::Timeout=${lockSecondsMax}`,
    '-y',
    '-q',
    '--no-install-recommends',
    ...packages,
  ];
  const perform = async (): Promise<void> => {
    const isDone =
      (await run(install)) ||
      (!isStopped && (await run(['update', '-q'])) && !isStopped && (await run(install)));
    marker.remove();
    if (isStopped) return;
    progress(
      isDone
        ? `Installed ${packages.join(', ')}`
        : `Could not install ${packages.join(', ')}: run "${commandFor(packages)}" to see why`,
    );
  };
  return {
    ended: perform(),
    stop: () => {
      isStopped = true;
      marker.remove();
    },
  };
};

/** A failure to write it costs only the wait of code that comes too early. */
const mark = (folder: string): { readonly remove: () => void } => {
  const path = join(folder, 'installing');
  const write = (): void => {
    try {
      mkdirSync(folder, { recursive: true });
      writeFileSync(path, '');
    } catch {
      // As said above.
    }
  };
  write();
  const renewing = setInterval(write, renewMs).unref();
  return {
    remove: () => {
      clearInterval(renewing);
      rmSync(path, { force: true });
    },
  };
};
