/**
 * `RemoteMcp` over the official client, with `makeGuardedFetch` as its only way to the network.
 *
 * Each listing and each call has a connection of its own that ends with it, so that nothing of one project's
 * server outlives its use. The server chooses the protocol version; a session of an older one lasts as long as the connection. Schemas
 * of a server are never compiled: a pattern in one could run for ever.
 */
import { Client, ProtocolError, ProtocolErrorCode, type RequestOptions } from '@modelcontextprotocol/client';
import * as z from 'zod';
import { decodeTools, listedToolsMax } from '#shared/contracts/tools/listed-tools.ts';
import type { McpTool } from '#shared/domain/mcp/server.ts';
import { cutMiddle, utf8Bytes } from '#shared/domain/text.ts';
import type { RemoteCall, RemoteMcp, RemoteTarget } from '#shared/ports/mcp-servers.ts';
import type { EgressSettings } from '../outbound/checked-address.ts';
import { type Deadline, within } from '../outbound/deadline.ts';
import { makeGuardedFetch } from './guarded-fetch.ts';
import { type Circumstances, toListError, toOutcomeOf } from './remote-failure.ts';
import { toRemoteOutcome } from './remote-result.ts';
import { makeTransport, type RemoteTransport } from './remote-transport.ts';

const listBytesMax = 1_048_576;
const callBytesMax = 4 * 1_048_576;
const connectMsMax = 10_000;
/** The bound of a whole call, however much progress it reports. */
const callMsMax = 300_000;
const listPagesMax = 20;
const progressCharactersMax = 2000;
const progressBytesMax = 65_536;

/** The needed fields of one page. */
const toolPageSchema = z.looseObject({
  tools: z.array(z.unknown()),
  nextCursor: z.string().optional(),
});

export const makeRemoteMcp = (settings: EgressSettings): RemoteMcp => ({
  ready: () => Promise.resolve(),
  listTools: async (target, signal) => {
    const connection = openConnection(settings, { target, bytesMax: listBytesMax });
    const deadline = { ms: timeoutMs(target), signal };
    try {
      const listed = connection.connect(deadline).then((client) => listTools(client, deadline));
      return await within(deadline, listed);
    } catch (error) {
      throw toListError(error, connection.circumstances(signal));
    } finally {
      await connection.close();
    }
  },
  call: async (call) => {
    const { target, signal } = call;
    const connection = openConnection(settings, { target, bytesMax: callBytesMax });
    const deadline = { ms: Math.min(timeoutMs(target), connectMsMax), signal };
    try {
      return await callTool(await within(deadline, connection.connect(deadline)), call);
    } catch (error) {
      return toOutcomeOf(error, connection.circumstances(signal));
    } finally {
      await connection.close();
    }
  },
});

const timeoutMs = (target: RemoteTarget): number => Math.min(Math.max(target.timeoutMs, 1), callMsMax);

const listTools = async (client: Client, { ms, signal }: Deadline): Promise<readonly McpTool[]> => {
  const options: RequestOptions = { timeout: ms, ...(signal === undefined ? {} : { signal }) };
  let listed: readonly unknown[] = [];
  let params: { cursor?: string } = {};
  for (let page = 0; page < listPagesMax; page += 1) {
    const { tools, nextCursor } = await client
      .request({ method: 'tools/list', params }, toolPageSchema, options)
      .catch(withoutTools);
    listed = [...listed, ...tools];
    if (nextCursor === undefined || decodeTools(listed).length === listedToolsMax) break;
    params = { cursor: nextCursor };
  }
  return decodeTools(listed);
};

/** A server without tools may not answer the question at all. */
const withoutTools = (
  error: unknown,
): { readonly tools: readonly unknown[]; readonly nextCursor?: string } => {
  if (ProtocolError.isInstance(error) && error.code === ProtocolErrorCode.MethodNotFound)
    return { tools: [] };
  throw error;
};

const callTool = async (client: Client, call: RemoteCall) => {
  const result = await client.callTool(
    { name: call.tool, arguments: { ...call.args } },
    {
      ...(call.signal === undefined ? {} : { signal: call.signal }),
      timeout: timeoutMs(call.target),
      maxTotalTimeout: callMsMax,
      resetTimeoutOnProgress: true,
      onprogress: progressTo(call.onProgress),
    },
  );
  return toRemoteOutcome(result);
};

/** Progress messages are lines of output, as far as there is room for them. */
const progressTo = (onProgress: RemoteCall['onProgress']) => {
  let offset = 0;
  return ({ message }: { readonly message?: string | undefined }): void => {
    if (message === undefined || message === '' || offset >= progressBytesMax) return;
    const text = `${cutMiddle(message, progressCharactersMax)}\n`;
    onProgress({ stream: 'stdout', offset, text });
    offset += utf8Bytes(text);
  };
};

type RemoteConnection = {
  readonly connect: (deadline: Deadline) => Promise<Client>;
  /** The state of the connection when a failure occurred. */
  readonly circumstances: (signal: AbortSignal | undefined) => Circumstances;
  readonly close: () => Promise<void>;
};

const clientInfo = { name: 'sallyport', version: '0.1.0' };
/** The time for closing messages: a call's cancellation, a session's end. */
const farewellMsMax = 1000;

const openConnection = (
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
