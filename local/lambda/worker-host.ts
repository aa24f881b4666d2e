/**
 * A worker thread that runs handlers, and the calls that it is running (A21).
 *
 * A thread has its own `process.env`, its own event loop and its own end: when it ends, every call in it fails as on
 * AWS, and the owner of the host starts another. Its output goes to `log`. A call ends once: by its answer, by its
 * deadline or with the thread. Messages for an ended call are dropped, but its bytes are still acknowledged, so that a
 * late function can finish.
 */
import { getCompileCacheDir } from 'node:module';
import { Worker } from 'node:worker_threads';
import { startInputTimeout } from '#shared/adapters/input-timeout.ts';
import { failure, type Outcome, type ResponseSink, timedOut } from './function.ts';
import type { Call, FromWorker, ToWorker, WorkerSettings } from './worker/messages.ts';

type WorkerHostOptions = {
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

/**
 * The time in which a thread with a timed-out call must answer a ping. Its end is the end of all functions' calls, so that a busy
 * machine must not look like a loop without end.
 */
const pongTimeoutMs = 5000;

export const startWorkerHost = (options: WorkerHostOptions): WorkerHost => {
  const worker = spawn(options);
  const { log } = options;
  let isAlive = true;
  let stopWaiting: (() => void) | undefined;
  const send = (message: ToWorker): void => worker.postMessage(message);
  const calls = trackCalls({
    send,
    onTimeout: () => {
      stopWaiting ??= startInputTimeout(pongTimeoutMs, () => void kill());
      send({ type: 'ping' });
    },
  });
  const die = (reason: string): void => {
    isAlive = false;
    stopWaiting?.();
    calls.failAll(reason);
  };
  const kill = async (): Promise<void> => {
    die('Runtime exited with signal: killed');
    await worker.terminate();
  };

  worker.on('message', (message: FromWorker) => {
    if (message.type === 'pong') {
      stopWaiting?.();
      stopWaiting = undefined;
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
    stop: kill,
  };
};

/**
 * Of the objects that are soon forgotten, in a thread that is mostly at rest: by V8's own bound they take up to 48 MB before it looks
 * at them again. A process that was started with a bound of its own has that.
 */
const youngMbMax = 6;

export const youngBound = (flags: readonly string[]): { readonly maxYoungGenerationSizeMb?: number } =>
  flags.some((flag) => flag.startsWith('--max-semi-space-size'))
    ? {}
    : { maxYoungGenerationSizeMb: youngMbMax };

const spawn = ({ environment, memoryMb, log }: WorkerHostOptions): Worker => {
  const worker = new Worker(new URL('./worker/main.ts', import.meta.url), {
    env: { ...environment },
    // A thread has a compile cache only if it turns it on itself; this is the one of its process.
    workerData: { compileCache: getCompileCacheDir() } satisfies WorkerSettings,
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: {
      ...youngBound(process.execArgv),
      ...(memoryMb === undefined ? {} : { maxOldGenerationSizeMb: memoryMb }),
    },
  });
  for (const stream of [worker.stdout, worker.stderr]) stream.setEncoding('utf8').on('data', log);
  return worker;
};

const describe = (cause: unknown): string =>
  cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);

type CallsInFlight = {
  readonly begin: (call: Call, sink: ResponseSink) => Promise<Outcome>;
  readonly receive: (message: FromWorker) => void;
  /** The thread has ended: running calls and all later ones fail. */
  readonly failAll: (reason: string) => void;
};

type CallsInFlightOptions = {
  readonly send: (message: ToWorker) => void;
  readonly onTimeout: () => void;
};

/**
 * AWS has 10 seconds for an initialisation, on a processor of its own (https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html).
 * Here environments that start at once share the processors of one machine, which may be busy.
 */
const initTimeoutMs = 180_000;

type Running = {
  readonly call: Call;
  readonly sink: ResponseSink;
  readonly settle: (outcome: Outcome) => void;
  timer: NodeJS.Timeout;
  /** Chunks reach the sink in sequence. */
  delivered: Promise<void>;
};

const trackCalls = ({ send, onTimeout }: CallsInFlightOptions): CallsInFlight => {
  const calls = new Map<number, Running>();
  let isClosed = false;

  const end = (running: Running, outcome: Outcome): void => {
    if (!calls.delete(running.call.callId)) return;
    clearTimeout(running.timer);
    void running.delivered.then(() => running.settle(outcome));
  };
  const timeOut = (running: Running): void => {
    end(running, timedOut(running.call.requestId, running.call.timeoutMs));
    onTimeout();
  };
  const acknowledge = (callId: number, bytes: Uint8Array): void => {
    send({ type: 'consumed', callId, bytes: bytes.length });
  };

  return {
    begin: (call, sink) =>
      new Promise((settle) => {
        if (isClosed) return settle(exited(call, 'no runtime'));
        const timer = setTimeout(() => timeOut(running), initTimeoutMs + call.timeoutMs);
        const running: Running = { call, sink, settle, timer, delivered: Promise.resolve() };
        calls.set(call.callId, running);
        send({ type: 'call', call });
        const abandon = (): void => send({ type: 'abandon', callId: call.callId });
        sink.abandoned?.addEventListener('abort', abandon, { once: true });
        return undefined;
      }),
    receive: (message) => {
      if (message.type === 'pong') return;
      const running = calls.get(message.callId);
      if (running !== undefined) applyMessage(running, message, { end, timeOut, acknowledge });
      else if (message.type === 'chunk') acknowledge(message.callId, message.bytes);
    },
    failAll: (reason) => {
      isClosed = true;
      for (const running of [...calls.values()]) end(running, exited(running.call, reason));
    },
  };
};

const exited = ({ requestId }: Call, reason: string): Outcome =>
  failure('Runtime.ExitError', `RequestId: ${requestId} Error: ${reason}`);

type Steps = {
  readonly end: (running: Running, outcome: Outcome) => void;
  readonly timeOut: (running: Running) => void;
  readonly acknowledge: (callId: number, bytes: Uint8Array) => void;
};

const applyMessage = (
  running: Running,
  message: Exclude<FromWorker, { type: 'pong' }>,
  steps: Steps,
): void => {
  switch (message.type) {
    case 'started':
      clearTimeout(running.timer);
      running.timer = setTimeout(() => steps.timeOut(running), running.call.timeoutMs);
      running.sink.started?.();
      return;
    case 'began':
      running.sink.began(message.contentType);
      return;
    case 'chunk':
      running.delivered = running.delivered
        .then(() => running.sink.chunk(message.bytes))
        .catch(() => undefined)
        .then(() => steps.acknowledge(message.callId, message.bytes));
      return;
    case 'finished':
      steps.end(running, { kind: 'finished' });
      return;
    case 'failed':
      steps.end(running, { kind: 'failed', error: message.error });
      return;
    default:
      message satisfies never;
  }
};
