/**
 * `npm start`: runs the embedded cloud on this machine, in the foreground, until SIGINT, SIGTERM or the end of its terminal.
 *
 * A start that fails prints one line on stderr and exits with code 1; a stop by signal saves the workspaces of all sandboxes
 * and exits with code 0. A second signal ends it at once, with code 1.
 */
import { totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { ValuesOf } from '#shared/config/group.ts';
import { readVariables, type Variables } from '#shared/config/read-variables.ts';
import { localSettings } from '#shared/config/settings.ts';
import { addressLines } from './address-lines.ts';
import { startCloud } from './cloud.ts';
import { readFaults } from './ecs/faults.ts';
import type { SharedVolume } from './ecs/running-sandbox.ts';
import { start as startEcs } from './ecs/start.ts';
import { noteRelease } from './figures.ts';
import { ForeignFolder, findHome, loadSecret, makeHome, openFunctionLog } from './home.ts';
import { noProfiles } from './lambda/environment.ts';
import { lockDataFolder } from './process/folder-lock.ts';
import { provideSystemPrograms } from './system-programs.ts';
import { withPool } from './warm-pool.ts';
import { buildWebWhenStale } from './web-build.ts';
import { inspectWork, installWorkPackages, planWorkPackages } from './work-packages.ts';

const usage = 'usage: npm start [-- --dir <data folder>]';

const print = (line: string): void => void process.stdout.write(`${line}\n`);
// A terminal that was closed takes no line, and the stop goes on.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

const main = async (variables: Variables): Promise<void> => {
  const named = readFlags();
  const settings = readVariables(localSettings, variables);
  if (!settings.ok) throw new Error(settings.problems.join('; '));
  const { PORT: port, SALLYPORT_HOME, SALLYPORT_TOKEN } = settings.value;

  const home = findHome(named ?? SALLYPORT_HOME, process.cwd());
  await makeHome(home).catch((cause: unknown) => refuseHome(cause, { home, isFlag: named !== undefined }));
  await using stopping = new AsyncDisposableStack();
  stopping.defer((await lockDataFolder(home, { progress: print })).release);
  const stopped = untilSignal();
  await provideSystemPrograms(variables, print);
  await buildWebWhenStale({ repository: resolve(import.meta.dirname, '..'), progress: print });

  const volume = sharedVolumeOf(settings.value);
  const faults = readFaults(variables['SALLYPORT_ECS_FAULTS']);
  await noteRelease(home, Date.now());
  const log = openFunctionLog(join(home, 'logs', 'functions.log'));
  stopping.defer(log.close);
  const token = SALLYPORT_TOKEN ?? (await loadSecret(home, 'token', 'sp_'));
  const cloud = await startCloud({
    home,
    port,
    token,
    sandboxSecret: await loadSecret(home, 'sandbox-secret'),
    variables: withPool(variables, totalmem()),
    log: log.write,
    progress: print,
    // Of tests alone, as the faults.
    strict: variables['SALLYPORT_STRICT'] === 'true',
    sweepMs: settings.value.SALLYPORT_SWEEP_SECONDS * 1000,
    startSandboxHost: (options) => startEcs({ ...options, faults, sharedVolume: volume }),
  }).catch((cause: unknown) => explainStartFailure(cause, port));
  stopping.defer(cloud.stop);

  // In one write, so that a reader that waits for the first line gets the others with it.
  print(addressLines(cloud, { home, token }).join('\n'));
  if (settings.value.SALLYPORT_INSTALL_PACKAGES) {
    const plan = planWorkPackages(await inspectWork(variables['PATH'] ?? ''));
    stopping.defer(installWorkPackages(plan, { progress: print }).stop);
  }
  await stopped;
  print('Stopping');
  if (!(await cloud.saveWorkspaces()))
    print('Some workspaces were not saved. Their changes since the last save are lost.');
};

const sharedVolumeOf = ({
  MSB_SHARED_VOLUME_PATH: path,
  MSB_SHARED_VOLUME_GUEST_PATH: guestPath,
}: ValuesOf<typeof localSettings>): SharedVolume | undefined =>
  path === undefined ? undefined : { hostPath: resolve(path), guestPath };

const readFlags = (): string | undefined => {
  try {
    const { dir } = parseArgs({ options: { dir: { type: 'string' } } }).values;
    if (dir === '') throw new Error('the data folder has no name');
    return dir;
  } catch (cause) {
    throw new Error(usage, { cause });
  }
};

/** Under npm, Ctrl-C arrives twice at once: from the terminal, and from npm, which passes it on. */
const sameSignalMs = 500;

/**
 * Listens before anything is started, so that an early signal stops it in order, too. A closed terminal sends SIGHUP more than
 * once, which therefore is no second signal. Node takes it even where `nohup` ignores it.
 */
const untilSignal = (): Promise<void> =>
  new Promise((resolve) => {
    let firstAt: number | undefined;
    const receive = (): void => {
      const now = performance.now();
      firstAt ??= now;
      if (now - firstAt > sameSignalMs) process.exit(1);
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, receive);
    process.on('SIGHUP', () => resolve());
  });

const refuseHome = (cause: unknown, { home, isFlag }: { home: string; isFlag: boolean }): never => {
  if (cause instanceof ForeignFolder) throw cause;
  const name = isFlag ? '--dir' : 'SALLYPORT_HOME';
  throw new Error(`${name}="${home}" cannot be used: set it to a folder that exists or can be created`, {
    cause,
  });
};

const explainStartFailure = (cause: unknown, port: number): never => {
  if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw cause;
  throw new Error(
    `port ${port} is already in use: stop the program that listens there, or set PORT to another (PORT=0 picks a free one)`,
    { cause },
  );
};

/**
 * The clients of this process are those of the embedded cloud: neither a variable nor a profile of the user's own account changes
 * where they connect, or how.
 */
const withoutAccount = (environment: NodeJS.ProcessEnv): Variables => {
  const variables = { ...environment };
  for (const name of Object.keys(environment)) if (name.startsWith('AWS_')) delete environment[name];
  Object.assign(environment, noProfiles);
  return variables;
};

// biome-ignore lint/style/noProcessEnv: the one read of this program's environment.
main(withoutAccount(process.env)).then(
  () => process.exit(0),
  (cause: unknown) => {
    process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n`);
    process.exit(1);
  },
);
