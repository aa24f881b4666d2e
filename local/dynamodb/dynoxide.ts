/**
 * The dynoxide process: a DynamoDB server in one binary, on a SQLite file, in its own network namespace.
 *
 * It listens on TCP, answers the preflight of any web page and accepts any signature, so only our endpoint may reach
 * it. Its loopback is in a namespace that no other program shares. A connector beside it opens connections there and
 * passes the open sockets to this process, so requests take no detour.
 * A process that ends by itself is followed by another at the next request.
 * The namespace is made by bubblewrap, which the sandboxes need anyway, or by `unshare` and `ip`. Without either the
 * start is refused: a table that any web page may write is worse than none. The binary comes from npm for linux-x64
 * only; elsewhere the start is refused with the variable that names another DynamoDB.
 */
import { spawnSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { explainBubblewrap } from '../process/bubblewrap-advice.ts';
import { startTiedChild, type TiedChild } from '../process/tied-child.ts';
import type { FromConnector, ToConnector } from './connector.ts';

type Dynoxide = {
  /** Opens a connection, which belongs to the caller. */
  readonly connect: () => Promise<Socket>;
  readonly stop: () => Promise<void>;
};

const startTimeoutMs = 10_000;
const connectTimeoutMs = 10_000;
const stopTimeoutMs = 5000;
const connector = join(import.meta.dirname, 'connector.ts');

export const startDynoxide = async (folder: string): Promise<Dynoxide> => {
  const binary = findBinary();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const database = join(folder, 'dynamodb.sqlite');
  const command = inOwnNetwork([process.execPath, connector, binary, database]);
  let running = launch(command);
  let isStopped = false;
  try {
    (await within(running.connect(), startTimeoutMs)).destroy();
  } catch (cause) {
    await running.stop();
    throw new Error(`dynoxide did not start: ${running.errorOutput() || 'no answer'}`, { cause });
  }
  return {
    connect: () => {
      if (!isStopped && running.isReplaceable()) {
        process.stderr.write(`dynoxide has ended, and is started again: ${running.errorOutput()}\n`);
        running = launch(command);
      }
      return within(running.connect(), connectTimeoutMs);
    },
    stop: () => {
      isStopped = true;
      return running.stop();
    },
  };
};

/** Of a start that fails again and again. */
const restartPauseMs = 1000;

const launch = ([program, ...parameters]: Command) => {
  const child = startTiedChild(program, parameters, { hasMessages: true });
  const launchedAt = performance.now();
  let hasEnded = false;
  void child.exited.then(() => {
    hasEnded = true;
  });
  return {
    ...openConnections(child),
    errorOutput: child.errorOutput,
    /** It has ended by itself: the kernel kills a process when memory is short. Its file is whole. */
    isReplaceable: () => hasEnded && performance.now() - launchedAt >= restartPauseMs,
    stop: () => stopInOrder(child),
  };
};

const findBinary = (): string => {
  try {
    const manifest = createRequire(import.meta.url).resolve('@dynoxide/linux-x64/package.json');
    return join(dirname(manifest), 'dynoxide');
  } catch (cause) {
    throw new Error(
      'no DynamoDB server is bundled for this platform: set AWS_ENDPOINT_URL_DYNAMODB to one, for example DynamoDB Local',
      { cause },
    );
  }
};

type PendingConnection = {
  readonly resolve: (socket: Socket) => void;
  readonly reject: (error: Error) => void;
};

/** The connector answers in the order of the requests. */
const openConnections = (child: TiedChild) => {
  const pending: PendingConnection[] = [];
  let isOver = false;
  child.onMessage((message, handle) => {
    const { type } = message as FromConnector;
    const next = pending.shift();
    if (type === 'connected' && handle !== undefined) {
      if (next === undefined) (handle as Socket).destroy();
      else next.resolve(handle as Socket);
    } else next?.reject(new Error('dynoxide does not answer'));
  });
  void child.exited.then(() => {
    isOver = true;
    for (const { reject } of pending.splice(0)) reject(new Error('dynoxide has ended'));
  });
  return {
    connect: (): Promise<Socket> =>
      new Promise((resolve, reject) => {
        if (isOver) return reject(new Error('dynoxide has ended'));
        pending.push({ resolve, reject });
        child.send({ type: 'connect' } satisfies ToConnector);
        return undefined;
      }),
  };
};

const within = async <T>(work: Promise<T>, ms: number): Promise<T> => {
  const settled = new AbortController();
  const late = delay(ms, undefined, { signal: settled.signal }).then(() => {
    throw new Error(`no answer in ${ms} ms`);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    settled.abort();
    late.catch(() => undefined);
  }
};

/** Lets it close its file; after the timeout it is killed with its namespace. */
const stopInOrder = async (child: TiedChild): Promise<void> => {
  child.send({ type: 'stop' } satisfies ToConnector);
  await within(child.exited, stopTimeoutMs).catch(() => undefined);
  await child.stop();
};

type Command = readonly [string, ...string[]];

const bubblewrap: Command = [
  ...(['bwrap', '--unshare-net', '--unshare-pid', '--die-with-parent'] as const),
  ...['--dev-bind', '/', '/', '--'],
];

const unshare: Command = [
  ...(['unshare', '--map-root-user', '--net', '--pid', '--fork', '--kill-child', '--'] as const),
  ...['sh', '-c', 'ip link set lo up && exec "$@"', 'sh'],
];

const inOwnNetwork = (command: Command): Command => {
  launcher ??= findLauncher();
  return [...launcher, ...command];
};

/** Found once: each attempt stops this process until it ends. */
let launcher: Command | undefined;

const findLauncher = (): Command => {
  const refusal = refusalOf(bubblewrap);
  if (refusal === undefined) return bubblewrap;
  if (refusalOf(unshare) === undefined) return unshare;
  throw new Error(
    `the local DynamoDB needs a network namespace: ${explainBubblewrap(refusal)}, or set AWS_ENDPOINT_URL_DYNAMODB to another DynamoDB`,
  );
};

const refusalOf = ([program, ...parameters]: Command): string | undefined => {
  const { status, stderr } = spawnSync(program, [...parameters, 'true'], { encoding: 'utf8' });
  return status === 0 ? undefined : (stderr ?? '');
};
