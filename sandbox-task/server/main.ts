/**
 * The sandbox's server: the trusted program in the container.
 *
 * It speaks HTTP to one caller and frames to the runner, and never touches a file or a process of the
 * user itself. Its guarantees are in docs/spec/sandbox.md. The task definition and the local host write its
 * settings, RunTask adds the bearer's hash and the memory; none of them reaches user code. A bad one stops the start.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { createAcp } from './agent/acp/acp-program.ts';
import type { AgentParts } from './agent/agent-program.ts';
import { type AgentTurns, createAgentTurns } from './agent/agent-turns.ts';
import { createOpencode } from './agent/opencode/opencode-program.ts';
import { createCallRegistry } from './call-registry.ts';
import { createExecutor } from './executor.ts';
import { createHttpServer } from './http-server.ts';
import { createLog, createLogRing, type Log } from './logs.ts';
import { createMcpEndpoint, prepareOnce } from './mcp-endpoint.ts';
import { openMemoryCounters } from './memory-counters.ts';
import { createArrivalOrder } from './process/arrival-order.ts';
import { createFrameOrder } from './process/frame-order.ts';
import { createInputMeter } from './process/input-meter.ts';

import { createProcessRegistry } from './process/process-registry.ts';
import { createModelEndpoint } from './relay/model-endpoint.ts';
import { createPlatformSocket, listenOn } from './relay/platform-socket.ts';
import { createProxy } from './relay/proxy.ts';
import { createRelay, type SandboxRelay } from './relay/relay.ts';
import { createRestoreFence } from './restore-fence.ts';
import { createBearer } from './routes.ts';
import { createStdioCaller } from './stdio-caller.ts';
import { createWorkQueue } from './transfers.ts';
import { openUserSide } from './user-side.ts';
import { createWorkCount } from './work-count.ts';

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

/** The bounds of the call registry: the control plane repeats a call within minutes, not days. */
const rememberedCallsMax = 1000;
const rememberedBytesMax = 16 * 1_048_576;
const logBounds = { linesMax: 1000, bytesMax: 256 * 1024 };
const waitingTransfersMax = 16;
/** Of OpenCode's server, on the sandbox's loopback; no preview port. */
const opencodePort = 4096;
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
    onStdioLog: (server, text) => {
      for (const line of text.split('\n')) logRing.add('stderr', `[${server}] ${line}`);
    },
  });
  const registry = createCallRegistry({ callsMax: rememberedCallsMax, bytesMax: rememberedBytesMax });
  const transfers = createWorkQueue(waitingTransfersMax);
  const callParts = { userSide, limits, counters, logRing, running: new Set<object>() };
  const work = createWorkCount();
  const agents = openAgents({ userSide, workspace: environment.SANDBOX_WORKSPACE });
  const processes = createProcessRegistry(callParts);
  const relay = createRelay({
    isBusy: () => work.isBusy() || registry.isBusy() || agents.isBusy() || processes.isServed(),
    usedAt: work.begunAt,
  });
  const mcp = createMcpEndpoint({
    userSide,
    execute: createExecutor(callParts),
    askStdio: createStdioCaller(callParts),
    registry,
    relay,
    log,
  });
  const prepare = prepareOnce(mcp, log);
  // One of the pool is asked nothing until a call comes.
  userSide.ready.then(prepare, () => undefined);
  const bearer = createBearer(environment.SANDBOX_BEARER_SHA256);
  const hasSharedVolume = environment.SANDBOX_SHARED_PATH !== undefined;
  const restores = createRestoreFence();
  const parts = {
    bearer,
    mcp,
    prepare,
    userSide,
    registry,
    logRing,
    transfers,
    restores,
    hasSharedVolume,
    relay,
    relaySocket: environment.SANDBOX_RELAY_SOCKET,
    work,
    agents,
    ...processPartsOf(processes),
  };
  const server = createHttpServer(parts, log);
  server.listen(environment.SANDBOX_LISTEN, () => log.info('listening'));
  listenInside(environment, { relay, log });

  // Guarantee W11 of docs/spec/sandbox.md: running checkpoints end first, then the user processes.
  const stop = async (): Promise<void> => {
    log.info('stopping');
    server.stopAccepting();
    await Promise.race([transfers.idle(), delay(stopMsMax)]);
    await userSide.stop();
    process.exit(0);
  };
  process.once('SIGTERM', () => void stop());
  process.once('SIGINT', () => void stop());
};

const processPartsOf = (processes: ReturnType<typeof createProcessRegistry>) => ({
  processes,
  inputMeter: createInputMeter(),
  frameOrder: createFrameOrder(),
  arrivalOrder: createArrivalOrder(),
});

const openAgents = (parts: AgentParts): AgentTurns =>
  createAgentTurns({ opencode: createOpencode(parts, opencodePort), acp: createAcp(parts) });

/** User code sees it from its first moment. */
const makeSocketFolder = ({ SANDBOX_RELAY_SOCKET: path }: Environment): void => {
  if (path !== undefined) mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
};

/** The endpoints of the server that programs of the sandbox reach. */
const listenInside = (
  {
    SANDBOX_PROXY_PORT: proxyPort,
    SANDBOX_MODELS_PORT: modelsPort,
    SANDBOX_RELAY_SOCKET: socketPath,
  }: Environment,
  parts: { readonly relay: SandboxRelay; readonly log: Log },
): void => {
  if (proxyPort !== undefined) createProxy(parts).listen(proxyPort, '127.0.0.1');
  if (modelsPort !== undefined) createModelEndpoint(parts).listen(modelsPort, '127.0.0.1');
  if (socketPath !== undefined) listenOn(createPlatformSocket(parts), socketPath);
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
