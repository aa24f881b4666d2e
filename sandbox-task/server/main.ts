/**
 * The sandbox's server: the trusted program in the container.
 *
 * It starts the runner, listens, and says that it is up; all else it does is code that is loaded behind its first answer.
 * It speaks HTTP to one caller and frames to the runner, and never touches a file or a process of the
 * user itself. Its guarantees are in docs/spec/sandbox.md. The task definition and the local host write its
 * settings, RunTask adds the bearer's hash and the memory; none of them reaches user code. A bad one stops the start.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { createBearer } from './bearer.ts';
import { createHttpServer } from './http-server.ts';
import { createLog, createLogRing } from './logs.ts';
import { openMemoryCounters } from './memory-counters.ts';
import type { ServedParts, ServedRoutes } from './served-routes.ts';
import { openUserSide } from './user-side.ts';

const absolutePath = z.string().refine((path) => isAbsolute(path), 'must be an absolute path');
const listen = z.union([
  z.templateLiteral(['unix:', absolutePath]).transform((text) => ({ path: text.slice('unix:'.length) })),
  z
    .string()
    .regex(/^tcp:\/\/[0-9.]+:\d{1,5}$/, 'must be tcp://<address>:<port> or unix:<path>')
    .transform((text) => {
      const { hostname, port } = new URL(text);
      return { host: hostname, port: Number(port) };
    }),
]);
const argv = z.array(z.string()).min(1, 'must name the program that gives the user identity');

const environment = z.object({
  SANDBOX_LISTEN: listen,
  /** The server knows the bearer only by its SHA-256, so that its memory holds no usable token. */
  SANDBOX_BEARER_SHA256: z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits'),
  /** A JSON array of arguments that the runner's command line is appended to. */
  SANDBOX_USER_LAUNCHER: z
    .string()
    .transform((text, context) => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        context.addIssue('must be a JSON array');
        return z.NEVER;
      }
    })
    .pipe(argv),
  /** The memory limit of user code, for messages; enforced by the cgroup. */
  SANDBOX_MEMORY_MB: z.coerce.number().int().positive().default(512),
  SANDBOX_PROCESSES_MAX: z.coerce.number().int().positive().default(256),
  /** The folder of the memory counters of user code's cgroup; without it the runner counts. */
  SANDBOX_CGROUP: absolutePath.optional(),
  /** True if user code may write to /proc; where it may not, the server sets the scores of its processes. */
  SANDBOX_PROC: z.enum(['writable', 'read-only']).default('writable'),
  SANDBOX_WORKSPACE: absolutePath.default('/workspace'),
  /** A mounted folder that user code shares with its owner's other sandboxes. */
  /** `none`: without the one that the task definition names. */
  SANDBOX_SHARED_PATH: z
    .literal('none')
    .transform(() => undefined)
    .or(absolutePath)
    .optional(),
  /** The port of the proxy on the sandbox's loopback; absent: there is none. */
  SANDBOX_PROXY_PORT: z.coerce.number().int().min(1024).max(65_535).optional(),
  /** The port of the model broker on the sandbox's loopback; absent: there is none. */
  SANDBOX_MODELS_PORT: z.coerce.number().int().min(1024).max(65_535).optional(),
  /** The relay's socket, in a folder that user code sees as /run/sallyport; absent: there is none. */
  SANDBOX_RELAY_SOCKET: absolutePath.optional(),
});

type Environment = z.output<typeof environment>;

/** Throws one line that names each bad variable. */
const readEnvironment = (variables: Readonly<Record<string, string | undefined>>): Environment => {
  const parsed = environment.safeParse(variables);
  if (parsed.success) return parsed.data;
  const complaints = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new Error(complaints.join('; '));
};

const logBounds = { linesMax: 1000, bytesMax: 256 * 1024 };
/** Checkpoints may go on for this long after SIGTERM; ECS kills ten seconds later. */
const stopMsMax = 20_000;
/** The runner lives on the memory of user code: small heaps, few threads. */
const runnerFlags = ['--max-old-space-size=64', '--max-semi-space-size=1', '--v8-pool-size=1'];

const main = (environment: Environment): void => {
  const log = createLog((line) => process.stderr.write(line));
  const counters = openMemoryCounters(environment.SANDBOX_CGROUP);
  const limits = {
    memoryMbMax: environment.SANDBOX_MEMORY_MB,
    processesMax: environment.SANDBOX_PROCESSES_MAX,
  };
  const isProcWritable = environment.SANDBOX_PROC === 'writable';
  const settings = JSON.stringify({
    workspace: environment.SANDBOX_WORKSPACE,
    sharedPath: environment.SANDBOX_SHARED_PATH,
    nodePath: process.execPath,
    proxyPort: environment.SANDBOX_PROXY_PORT ?? null,
    isProcWritable,
    processesMax: limits.processesMax,
    memoryMbMax: counters === undefined ? limits.memoryMbMax : undefined,
  });
  makeSocketFolder(environment);
  const runner = [process.execPath, ...runnerFlags, runnerPath(), settings];
  const logRing = createLogRing(logBounds);
  const userSide = openUserSide({
    argv: [...environment.SANDBOX_USER_LAUNCHER, ...runner],
    raisesScores: !isProcWritable,
    log,
    parser: async () => (await load()).parseRunnerMessage,
    onStdioLog: (server, text) => {
      for (const line of text.split('\n')) logRing.add('stderr', `[${server}] ${line}`);
    },
  });
  const bearer = createBearer(environment.SANDBOX_BEARER_SHA256);
  const routes = openOnce({
    ...{ bearer, userSide, limits, counters, logRing, log },
    ...insideOf(environment),
  });
  const prepare = (): void => {
    setImmediate(() =>
      routes.open().then(
        ({ prepare: prepareRoutes }) => prepareRoutes(),
        (cause: unknown) => log.warn('not prepared', { cause: String(cause) }),
      ),
    );
  };
  // One of the pool is asked nothing until a call comes.
  userSide.ready.then(prepare, () => undefined);
  const server = createHttpServer({ bearer, routes: routes.open, prepare, log });
  server.listen(environment.SANDBOX_LISTEN, () => log.info('listening'));

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
const insideOf = (environment: Environment) => ({
  workspace: environment.SANDBOX_WORKSPACE,
  hasSharedVolume: environment.SANDBOX_SHARED_PATH !== undefined,
  proxyPort: environment.SANDBOX_PROXY_PORT,
  modelsPort: environment.SANDBOX_MODELS_PORT,
  relaySocket: environment.SANDBOX_RELAY_SOCKET,
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
const makeSocketFolder = ({ SANDBOX_RELAY_SOCKET: path }: Environment): void => {
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
    main(readEnvironment(process.env));
  } catch (cause) {
    process.stderr.write(`sallyport-sandbox: ${cause instanceof Error ? cause.message : String(cause)}\n`);
    process.exitCode = 1;
  }
};

start();
