/**
 * The dynoxide process: a DynamoDB server in one binary, on a SQLite file, in a network of its own.
 *
 * It listens on TCP, answers the preflight of any web page and believes any signature, so nothing but its front may
 * reach it: its loopback is in a network namespace that no other program is in. A connector beside it opens connections
 * there and passes the open sockets here, so a request takes no detour.
 * It comes from npm for linux-x64 only. Elsewhere the start is refused with the variable that names another
 * DynamoDB, instead of a half-working replacement.
 */
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startTiedChild, type TiedChild } from '../endpoint/tied-child.ts';
import type { FromConnector, ToConnector } from './connector-messages.ts';
import { inOwnNetwork } from './own-network.ts';

export type Dynoxide = {
  /** A connection to it, which belongs to the caller. */
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
  const [program, ...parameters] = inOwnNetwork([process.execPath, connector, binary, database]);
  const child = startTiedChild(program, parameters, { isHeard: true });
  const waiting = openConnections(child);
  const stop = (): Promise<void> => stopInOrder(child);
  try {
    (await within(waiting.connect(), startTimeoutMs)).destroy();
  } catch (cause) {
    await stop();
    throw new Error(`dynoxide did not start: ${child.complaint() || 'no answer'}`, { cause });
  }
  return { connect: () => within(waiting.connect(), connectTimeoutMs), stop };
};

const findBinary = (): string => {
  try {
    const manifest = createRequire(import.meta.url).resolve('@dynoxide/linux-x64/package.json');
    return join(dirname(manifest), 'dynoxide');
  } catch (cause) {
    throw new Error(
      'no DynamoDB server for this platform: set AWS_ENDPOINT_URL_DYNAMODB to one (DynamoDB Local, for example)',
      { cause },
    );
  }
};

type Waiting = { readonly resolve: (socket: Socket) => void; readonly reject: (error: Error) => void };

/** The connector answers in the order in which it was asked. */
const openConnections = (child: TiedChild) => {
  const waiting: Waiting[] = [];
  let isOver = false;
  child.listen((message, handle) => {
    const { type } = message as FromConnector;
    const next = waiting.shift();
    if (type === 'connected' && handle !== undefined) {
      if (next === undefined) (handle as Socket).destroy();
      else next.resolve(handle as Socket);
    } else next?.reject(new Error('dynoxide does not answer'));
  });
  void child.exited.then(() => {
    isOver = true;
    for (const { reject } of waiting.splice(0)) reject(new Error('dynoxide has ended'));
  });
  return {
    connect: (): Promise<Socket> =>
      new Promise((resolve, reject) => {
        if (isOver) return reject(new Error('dynoxide has ended'));
        waiting.push({ resolve, reject });
        child.tell({ type: 'connect' } satisfies ToConnector);
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

/** It closes its file before it ends; if that takes too long, it is killed with its namespace. */
const stopInOrder = async (child: TiedChild): Promise<void> => {
  child.tell({ type: 'stop' } satisfies ToConnector);
  await within(child.exited, stopTimeoutMs).catch(() => undefined);
  await child.stop();
};
