/**
 * `Egress` over TCP: a name is resolved here, all its addresses are judged, and the connection goes to one of them.
 *
 * A second answer of the resolver has no effect (EG3). The rules for addresses are those of registered MCP servers. No proxy of
 * the environment is used.
 */
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { AppError, isAppError } from '#shared/errors.ts';
import type { Egress, EgressConnection, EgressTarget } from '#shared/ports/egress.ts';
import { startInputTimeout } from '../input-timeout.ts';
import { checkAddress, type Resolve } from '../outbound/checked-address.ts';
import { within } from '../outbound/deadline.ts';

export type EgressOptions = {
  /** `host` or `host:port` each, which may be private. */
  readonly allowedPrivateHosts: readonly string[];
  /** The machine's own resolver when absent. */
  readonly resolve?: Resolve;
};

const setting = 'EGRESS_ALLOWED_PRIVATE_HOSTS';
const lookupMsMax = 5000;
const connectMsMax = 5000;
/** A name may have many addresses: the first ones are tried. */
const addressesMax = 4;
const aliveProbeMs = 30_000;

export const makeTcpEgress = (options: EgressOptions): Egress => ({
  connect: async (target) => {
    const addresses = await judged(target, options);
    for (const { address } of addresses.slice(0, addressesMax)) {
      const socket = await tryConnect(address, target.port);
      if (socket !== undefined) return connectionOf(socket);
    }
    throw new AppError('sandbox_unavailable', `${target.host} accepts no connection on port ${target.port}`);
  },
});

const judged = async (
  { host, port }: EgressTarget,
  { allowedPrivateHosts, resolve }: EgressOptions,
): Promise<readonly LookupAddress[]> => {
  const url = URL.parse(
    `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}/`,
  );
  if (url === null) throw new AppError('forbidden', 'the host cannot be read');
  try {
    const settings = { allowedPrivateHosts, setting, ...(resolve === undefined ? {} : { resolve }) };
    return await within({ ms: lookupMsMax }, checkAddress(url, settings));
  } catch (error) {
    if (isAppError(error) && error.code === 'invalid_request')
      throw new AppError('forbidden', error.message, { cause: error });
    throw new AppError('sandbox_unavailable', `${host}: its name cannot be resolved`, { cause: error });
  }
};

const tryConnect = async (host: string, port: number): Promise<Socket | undefined> => {
  const socket = connect({ host, port, allowHalfOpen: true, noDelay: true });
  // It may fail at any moment, also when nothing waits for it.
  socket.on('error', () => undefined);
  const stopWaiting = startInputTimeout(connectMsMax, () =>
    socket.destroy(new Error('connecting took too long')),
  );
  try {
    await once(socket, 'connect');
    socket.setKeepAlive(true, aliveProbeMs);
    return socket;
  } catch {
    socket.destroy();
    return undefined;
  } finally {
    stopWaiting();
  }
};

const connectionOf = (socket: Socket): EgressConnection => ({
  incoming: socket,
  write: async (bytes) => {
    if (socket.destroyed) throw new Error('the connection is closed');
    if (socket.write(bytes)) return;
    await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
    if (socket.destroyed) throw new Error('the connection is closed');
  },
  end: () => socket.end(),
  destroy: () => socket.destroy(),
});
