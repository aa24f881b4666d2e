/**
 * The sandbox's server: the trusted program in the container.
 *
 * It speaks HTTP to one caller and frames to the runner, and never touches a file or a process of the
 * user itself. What it guarantees is in docs/spec/sandbox.md.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createCallRegistry } from './call-registry.ts';
import { type Environment, readEnvironment } from './environment.ts';
import { createExecutor } from './executor.ts';
import { createHttpServer } from './http-server.ts';
import { createLog } from './log.ts';
import { createMcpEndpoint } from './mcp-endpoint.ts';
import { openMemoryCounters } from './memory-counters.ts';
import { openUserSide } from './user-side.ts';

/** What a call registry may hold: the control plane repeats a call within minutes, not days. */
const rememberedCallsMax = 1000;
const rememberedBytesMax = 16 * 1_048_576;
/** The runner lives on the memory of user code: small heaps, few threads. */
const runnerFlags = ['--max-old-space-size=64', '--max-semi-space-size=1', '--v8-pool-size=1'];

const main = (environment: Environment): void => {
  const log = createLog((line) => process.stderr.write(line));
  const counters = openMemoryCounters(environment.SANDBOX_CGROUP);
  const limits = {
    memoryMbMax: environment.SANDBOX_MEMORY_MB,
    processesMax: environment.SANDBOX_PROCESSES_MAX,
  };
  const settings = JSON.stringify({
    workspace: environment.SANDBOX_WORKSPACE,
    processesMax: limits.processesMax,
    memoryMbMax: counters === undefined ? limits.memoryMbMax : undefined,
  });
  const runner = [process.execPath, ...runnerFlags, runnerPath(), settings];
  const userSide = openUserSide([...environment.SANDBOX_USER_LAUNCHER, ...runner], log);
  const registry = createCallRegistry({ callsMax: rememberedCallsMax, bytesMax: rememberedBytesMax });
  const mcp = createMcpEndpoint({
    userSide,
    execute: createExecutor(userSide, limits, counters),
    registry,
    log,
  });
  const server = createHttpServer({
    bearerSha256: environment.SANDBOX_BEARER_SHA256,
    mcp,
    userSide,
    registry,
    log,
  });
  server.listen(environment.SANDBOX_LISTEN, () => log.info('listening'));

  const stop = (): void => {
    log.info('stopping');
    userSide.stop();
    server.close(() => process.exit(0));
    server.closeAllConnections();
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
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
