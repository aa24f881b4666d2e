/**
 * A worker thread that runs handlers.
 *
 * A thread has its own `process.env`, its own event loop and its own end: when it dies, every call in it
 * fails as on AWS, and whoever owns the host starts another. What it prints goes to `log`.
 */
import { Worker } from 'node:worker_threads';
import { trackCalls } from './calls-in-flight.ts';
import type { Outcome, ResponseSink } from './invocation.ts';
import type { Call, FromWorker, ToWorker } from './worker/messages.ts';

export type WorkerHostOptions = {
  readonly environment: Readonly<Record<string, string>>;
  readonly memoryMb?: number;
  readonly log: (text: string) => void;
};

export type WorkerHost = {
  readonly run: (call: Call, sink: ResponseSink) => Promise<Outcome>;
  readonly preload: (entry: string, environment: number | undefined) => void;
  readonly isAlive: () => boolean;
  readonly stop: () => Promise<void>;
};

/** How long a thread with a timed-out call may take to show that its event loop still turns. */
const pongTimeoutMs = 1000;

export const startWorkerHost = (options: WorkerHostOptions): WorkerHost => {
  const worker = spawn(options);
  const { log } = options;
  let isAlive = true;
  let stuck: NodeJS.Timeout | undefined;
  const send = (message: ToWorker): void => worker.postMessage(message);
  const calls = trackCalls({
    send,
    onTimeout: () => {
      stuck ??= setTimeout(() => void worker.terminate(), pongTimeoutMs);
      send({ type: 'ping' });
    },
  });
  const die = (reason: string): void => {
    isAlive = false;
    clearTimeout(stuck);
    calls.failAll(reason);
  };

  worker.on('message', (message: FromWorker) => {
    if (message.type === 'pong') {
      clearTimeout(stuck);
      stuck = undefined;
    }
    calls.receive(message);
  });
  worker.on('error', (cause: unknown) => {
    log(`${describe(cause)}\n`);
    die(`Runtime exited with error: ${describe(cause)}`);
  });
  worker.on('exit', (code) => die(`Runtime exited with error: exit status ${code}`));

  return {
    run: calls.begin,
    preload: (entry, environment) => send({ type: 'preload', entry, environment }),
    isAlive: () => isAlive,
    stop: async () => {
      die('Runtime exited with signal: killed');
      await worker.terminate();
    },
  };
};

const spawn = ({ environment, memoryMb, log }: WorkerHostOptions): Worker => {
  const worker = new Worker(new URL('./worker/main.ts', import.meta.url), {
    env: { ...environment },
    execArgv: [],
    stdout: true,
    stderr: true,
    ...(memoryMb === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: memoryMb } }),
  });
  for (const stream of [worker.stdout, worker.stderr])
    stream.on('data', (chunk: Buffer) => log(chunk.toString()));
  return worker;
};

const describe = (cause: unknown): string =>
  cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
