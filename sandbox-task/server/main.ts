/**
 * The sandbox's server: the trusted program in the container.
 *
 * It speaks HTTP to one caller and frames to the runner, and never touches a file or a process of the
 * user itself. Its guarantees are in docs/spec/sandbox.md.
 */
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createBearer } from './bearer.ts';
import { createCallRegistry } from './call-registry.ts';
import { type Environment, readEnvironment } from './environment.ts';
import { createExecutor } from './executor.ts';
import { createHttpServer } from './http-server.ts';
import { createLog, createLogRing } from './logs.ts';
import { createMcpEndpoint } from './mcp-endpoint.ts';
import { openMemoryCounters } from './memory-counters.ts';
import { createStdioCaller } from './stdio-caller.ts';
import { openUserSide } from './user-side.ts';
import { createWorkQueue } from './work-queue.ts';

/** The bounds of the call registry: the control plane repeats a call within minutes, not days. */
const rememberedCallsMax = 1000;
const rememberedBytesMax = 16 * 1_048_576;
const logBounds = { linesMax: 1000, bytesMax: 256 * 1024 };
const waitingTransfersMax = 16;
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
    isProcWritable,
    processesMax: limits.processesMax,
    memoryMbMax: counters === undefined ? limits.memoryMbMax : undefined,
  });
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
  const mcp = createMcpEndpoint({
    userSide,
    execute: createExecutor(callParts),
    askStdio: createStdioCaller(callParts),
    registry,
    log,
  });
  const bearer = createBearer(environment.SANDBOX_BEARER_SHA256);
  const hasSharedVolume = environment.SANDBOX_SHARED_PATH !== undefined;
  const parts = { bearer, mcp, userSide, registry, logRing, transfers, hasSharedVolume };
  const server = createHttpServer(parts, log);
  server.listen(environment.SANDBOX_LISTEN, () => log.info('listening'));

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
