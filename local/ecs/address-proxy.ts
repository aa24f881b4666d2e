/**
 * A loopback address for each sandbox, as Fargate gives each task an elastic network interface. Bytes are passed to
 * the server's unix socket unread.
 *
 * An address that has to be unreachable at first refuses connections until its time.
 */

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

export type AddressProxy = { readonly address: string; readonly close: () => Promise<void> };

const addressTriesMax = 200;
/** Shorter than any caller waits for an answer. */
const reachMsMax = 1000;
const reachPauseMs = 5;

type ProxyOptions = {
  readonly port: number;
  readonly unreachableMs: number;
  readonly log: (line: string) => void;
};

/**
 * A port for all addresses of a run. Not that of AWS: a program that listens at it on every address of this machine would keep
 * sandboxes from starting, and sandboxes would keep it from starting.
 */
export const chooseSandboxPort = async (): Promise<number> => {
  const server = createServer().listen(0, someAddress());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await closeListener(server);
  return port;
};

export const openAddressProxy = async (
  socketPath: string,
  { port, unreachableMs, log }: ProxyOptions,
): Promise<AddressProxy> => {
  const sockets = new Set<Socket>();
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.once('close', () => sockets.delete(socket));
  };
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (client) => {
    track(client).on('error', () => client.destroy());
    void reach(socketPath, client).then((reached) => {
      if (reached !== undefined && !client.destroyed) return joinSockets(client, track(reached));
      reached?.destroy();
      client.destroy();
      return undefined;
    });
  });
  const address = await listenOnFreeAddress(server, port);
  server.on('error', (error) => log(`the address ${address} failed: ${error.message}`));
  if (unreachableMs > 0) await closeListener(server);
  const opening =
    unreachableMs > 0 ? setTimeout(() => server.listen(port, address), unreachableMs) : undefined;
  return {
    address,
    close: async () => {
      clearTimeout(opening);
      for (const socket of sockets) socket.destroy();
      if (server.listening) await closeListener(server);
    },
  };
};

/** A server that starts is reached as soon as it listens: its caller need not ask again. One that has ended is not waited for. */
const reach = async (path: string, client: Socket): Promise<Socket | undefined> => {
  for (const until = performance.now() + reachMsMax; ; await delay(reachPauseMs)) {
    const socket = connect({ path, allowHalfOpen: true });
    const failure = await once(socket, 'connect').then(
      () => undefined,
      (error: NodeJS.ErrnoException) => error.code,
    );
    if (failure === undefined) return socket;
    if (failure !== 'ENOENT' || client.destroyed || performance.now() > until) return undefined;
  }
};

const closeListener = async (server: Server): Promise<void> => {
  const closed = once(server, 'close');
  server.close();
  await closed;
};

const someAddress = (): string =>
  `127.77.${Math.floor(Math.random() * 256)}.${1 + Math.floor(Math.random() * 254)}`;

const listenOnFreeAddress = async (server: Server, port: number): Promise<string> => {
  for (let attempt = 1; ; attempt += 1) {
    const address = someAddress();
    try {
      server.listen(port, address);
      await once(server, 'listening');
      return address;
    } catch (error) {
      if (attempt === addressTriesMax) throw error;
    }
  }
};

/**
 * Joins two sockets into one connection, to the last byte.
 *
 * Each side ends when its counterpart has ended and all bytes on the way have arrived; a side that breaks off breaks
 * the other off. Both must allow to stay half open.
 */
export const joinSockets = (one: Duplex, other: Duplex): void => {
  passOn(one, other);
  passOn(other, one);
};

const passOn = (from: Duplex, to: Duplex): void => {
  from.pipe(to);
  from.on('error', () => to.destroy());
  from.on('close', () => {
    if (!from.readableEnded) to.destroy();
  });
};
