/**
 * The connection of one listing or one call to a server on the network, from its first byte to its last.
 *
 * The server chooses the protocol version; a session of an older one lasts as long as the connection. Schemas of
 * a server are never compiled: a pattern in one could run for ever.
 */
import { Client } from '@modelcontextprotocol/client';
import type { RemoteTarget } from '#shared/ports/mcp-servers.ts';
import type { EgressSettings } from '../outbound/checked-address.ts';
import { type Deadline, within } from '../outbound/deadline.ts';
import { makeGuardedFetch } from './guarded-fetch.ts';
import type { Circumstances } from './remote-failure.ts';
import { makeTransport, type RemoteTransport } from './remote-transport.ts';

export type RemoteConnection = {
  readonly connect: (deadline: Deadline) => Promise<Client>;
  /** The state of the connection when a failure occurred. */
  readonly circumstances: (signal: AbortSignal | undefined) => Circumstances;
  readonly close: () => Promise<void>;
};

const clientInfo = { name: 'sallyport', version: '0.1.0' };
/** The time for closing messages: a call's cancellation, a session's end. */
const farewellMsMax = 1000;

export const openConnection = (
  settings: EgressSettings,
  { target, bytesMax }: { readonly target: RemoteTarget; readonly bytesMax: number },
): RemoteConnection => {
  const guarded = makeGuardedFetch(settings, bytesMax);
  const client = makeClient(target);
  let wire: RemoteTransport | undefined;
  return {
    connect: async ({ ms }) => {
      wire = makeTransport(target, guarded.fetch);
      await client.connect(wire.transport, { timeout: ms });
      return client;
    },
    circumstances: (signal) => ({
      name: target.name,
      fault: guarded.fault(),
      isCallSent: wire?.transport.isCallSent === true,
      isCancelled: signal?.aborted === true,
    }),
    close: async () => {
      if (wire !== undefined) await farewell(wire);
      await client.close().catch(() => undefined);
      guarded.close();
    },
  };
};

const makeClient = ({ transport }: RemoteTarget): Client =>
  new Client(clientInfo, {
    // Before Streamable HTTP there was one way to begin.
    ...(transport === 'http' ? { versionNegotiation: { mode: 'auto' } } : {}),
    inputRequired: { autoFulfill: false },
    jsonSchemaValidator: {
      getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
    },
  });

const farewell = ({ transport, endSession }: RemoteTransport): Promise<void> =>
  within({ ms: farewellMsMax }, transport.settle().then(endSession)).catch(() => undefined);
