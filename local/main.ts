/**
 * `npm start`: the embedded cloud on this machine, in the foreground, until SIGINT or SIGTERM.
 *
 * Whatever stops the start is one line on stderr and exit code 1; a stop by signal is exit code 0.
 */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { localSettings, readVariables, type Variables } from '#shared/config/settings.ts';
import { type Cloud, startCloud } from './cloud.ts';
import { readFaults } from './ecs/faults.ts';
import type { SharedVolume } from './ecs/running-sandbox.ts';
import { start as startEcs } from './ecs/start.ts';
import { openFunctionLog } from './function-log.ts';
import { findHome, keepSecret, makeHome } from './home.ts';
import { lockHome } from './home-lock.ts';
import { inspectMachine, planProvision, provision } from './system-programs.ts';
import { buildWebWhenStale } from './web-build.ts';

const usage = 'usage: npm start [-- --dir <data folder>]';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const main = async (variables: Variables): Promise<void> => {
  const named = readFlags();
  const settings = readVariables(localSettings, variables);
  if (!settings.ok) throw new Error(settings.problems.join('; '));
  const { PORT: port, SALLYPORT_HOME, SALLYPORT_TOKEN } = settings.value;

  const home = findHome(named ?? SALLYPORT_HOME, process.cwd());
  await makeHome(home).catch((cause: unknown) => refuseHome(cause, { home, isFlag: named !== undefined }));
  await using stopping = new AsyncDisposableStack();
  stopping.defer(lockHome(home).release);
  const stopped = untilSignal();
  await provision(planProvision(inspectMachine(variables['PATH'] ?? '')), say);
  await buildWebWhenStale({ repository: resolve(import.meta.dirname, '..'), progress: say });

  const volume = sharedVolumeOf(settings.value);
  const faults = readFaults(variables['SALLYPORT_ECS_FAULTS']);
  const log = openFunctionLog(join(home, 'logs', 'functions.log'));
  stopping.defer(log.close);
  const token = SALLYPORT_TOKEN ?? (await keepSecret(home, 'token', 'sp_'));
  const cloud = await startCloud({
    home,
    port,
    token,
    sandboxSecret: await keepSecret(home, 'sandbox-secret'),
    variables,
    log: log.write,
    progress: say,
    sweepMs: settings.value.SALLYPORT_SWEEP_SECONDS * 1000,
    startSandboxHost: (options) => startEcs({ ...options, faults, sharedVolume: volume }),
  }).catch((cause: unknown) => explain(cause, port));
  stopping.defer(cloud.stop);

  greet(cloud, { home, token });
  await stopped;
  say('Stopping');
};

const sharedVolumeOf = ({
  MSB_SHARED_VOLUME_PATH: path,
  MSB_SHARED_VOLUME_GUEST_PATH: guestPath,
}: ReturnType<typeof localSettings.parse>): SharedVolume | undefined =>
  path === undefined ? undefined : { hostPath: resolve(path), guestPath };

const readFlags = (): string | undefined => {
  try {
    return parseArgs({ options: { dir: { type: 'string' } } }).values.dir;
  } catch (cause) {
    throw new Error(usage, { cause });
  }
};

/** The signals are listened to before anything is started, so that an early one stops it in order, too. */
const untilSignal = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });

const refuseHome = (cause: unknown, { home, isFlag }: { home: string; isFlag: boolean }): never => {
  const name = isFlag ? '--dir' : 'SALLYPORT_HOME';
  throw new Error(`${name}="${home}" is not allowed: set it to a folder that is there or can be made`, {
    cause,
  });
};

const explain = (cause: unknown, port: number): never => {
  if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw cause;
  throw new Error(
    `PORT=${port} is in use: stop what listens there, or set PORT to another (0 picks a free one)`,
    {
      cause,
    },
  );
};

const greet = (cloud: Cloud, { home, token }: { readonly home: string; readonly token: string }): void => {
  const lines = [
    `Sallyport is ready at ${cloud.url}`,
    `Open ${cloud.url}/#token=${token}`,
    `Data is in ${home}; what functions print is in ${join(home, 'logs', 'functions.log')}. Stop with Ctrl-C.`,
  ];
  // One write: who waits for the first line finds the others behind it.
  say(lines.join('\n'));
};

// biome-ignore lint/style/noProcessEnv: the one read of this program's environment.
main(process.env).then(
  () => process.exit(0),
  (cause: unknown) => {
    process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n`);
    process.exit(1);
  },
);
