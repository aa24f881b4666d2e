/**
 * The sandbox's server: the trusted program in the container.
 *
 * It starts the runner, listens, and says that it is up; all else it does is code that is loaded behind its first answer.
 * It speaks HTTP to one caller and frames to the runner, and never touches a file or a process of the
 * user itself. Its guarantees are in docs/spec/sandbox.md. None of its settings reaches user code, and a bad one stops the start.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createBearer } from './bearer.ts';
import { createHttpServer } from './http-server.ts';
import { createLog, createLogRing } from './logs.ts';
import { openMemoryCounters } from './memory-counters.ts';
import type { ServedParts, ServedRoutes } from './served-routes.ts';
import { readSettings, type Settings } from './settings.ts';
import { openUserSide } from './user-side.ts';

const logBounds = { linesMax: 1000, bytesMax: 256 * 1024 };
/** Checkpoints may go on for this long after SIGTERM; ECS kills ten seconds later. */
const stopMsMax = 20_000;
/** The runner lives on the memory of user code: small heaps, few threads. */
const runnerFlags = ['--max-old-space-size=64', '--max-semi-space-size=1', '--v8-pool-size=1'];

const main = (settings: Settings): void => {
  const log = createLog((line) => process.stderr.write(line));
  const counters = openMemoryCounters(settings.cgroup);
  const limits = { memoryMbMax: settings.memoryMb, processesMax: settings.processesMax };
  const { isProcWritable, workspace, sharedPath } = settings;
  const runnerSettings = JSON.stringify({
    ...{ workspace, sharedPath },
    nodePath: process.execPath,
    proxyPort: settings.proxyPort ?? null,
    isProcWritable,
    processesMax: limits.processesMax,
    memoryMbMax: counters === undefined ? limits.memoryMbMax : undefined,
  });
  makeSocketFolder(settings);
  const runner = [process.execPath, ...runnerFlags, runnerPath(), runnerSettings];
  const logRing = createLogRing(logBounds);
  const userSide = openUserSide({
    argv: [...settings.userLauncher, ...runner],
    raisesScores: !isProcWritable,
    log,
    parser: async () => (await load()).parseRunnerMessage,
    onStdioLog: (server, text) => {
      for (const line of text.split('\n')) logRing.add('stderr', `[${server}] ${line}`);
    },
  });
  const bearer = createBearer(settings.bearerSha256);
  const routes = openOnce({
    ...{ bearer, userSide, limits, counters, logRing, log },
    ...insideOf(settings),
  });
  const open = (prepare: (opened: ServedRoutes) => Promise<void> | void): void => {
    const warn = (cause: unknown) => log.warn('not prepared', { cause: String(cause) });
    setImmediate(() => routes.open().then(prepare).catch(warn));
  };
  // One of the pool is asked nothing until a call comes. One that is asked for its health before is started for a call, and a
  // command of its own would be in the way of it.
  let isAwaited = false;
  userSide.ready.then(
    () => open(({ prepare }) => (isAwaited ? undefined : prepare())),
    () => undefined,
  );
  const server = createHttpServer({
    ...{ bearer, routes: routes.open, log },
    prepare: () => {
      isAwaited = true;
      open(() => undefined);
    },
  });
  server.listen(settings.listen, () => log.info('listening'));

  // Guarantee W11 of docs/spec/sandbox.md: running checkpoints end first, then the user processes.
  const stop = async (): Promise<void> => {
    log.info('stopping');
    server.stopAccepting();
    await Promise.race([routes.idle(), delay(stopMsMax)]);
    await userSide.stop();
    process.exit(0);
  };
  process.once('SIGTERM', () => void stop());
  process.once('SIGINT', () => void stop());
};

/** The settings of what serves programs of the sandbox. */
const insideOf = ({ workspace, sharedPath, proxyPort, modelsPort, relaySocket }: Settings) => ({
  ...{ workspace, proxyPort, modelsPort, relaySocket },
  hasSharedVolume: sharedPath !== undefined,
});

const load = (): Promise<typeof import('./served-routes.ts')> => import('./served-routes.ts');

/** All routes but `/health`, loaded and opened by the first request that needs them, or behind the first answer. */
const openOnce = (parts: ServedParts) => {
  let opened: Promise<ServedRoutes> | undefined;
  const open = (): Promise<ServedRoutes> => {
    opened ??= load().then(({ openRoutes }) => openRoutes(parts));
    return opened;
  };
  return { open, idle: async (): Promise<void> => (await opened?.catch(() => undefined))?.idle() };
};

/** User code sees it from its first moment. */
const makeSocketFolder = ({ relaySocket: path }: Settings): void => {
  if (path !== undefined) mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
};

/** Beside the bundle in the image; in the source tree its neighbour. */
const runnerPath = (): string => {
  const bundled = fileURLToPath(new URL('./runner.mjs', import.meta.url));
  return existsSync(bundled) ? bundled : fileURLToPath(new URL('../runner/main.ts', import.meta.url));
};

const start = (): void => {
  try {
    // biome-ignore lint/style/noProcessEnv: the one read of this program's environment
    main(readSettings(process.env));
  } catch (cause) {
    process.stderr.write(`sallyport-sandbox: ${cause instanceof Error ? cause.message : String(cause)}\n`);
    process.exitCode = 1;
  }
};

start();
