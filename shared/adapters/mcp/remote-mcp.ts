/**
 * `RemoteMcp` over the official client, with `makeGuardedFetch` as its only way to the network.
 *
 * Each listing and each call has a connection of its own that ends with it, so that nothing of one project's
 * server outlives its use.
 */
import {
  type Client,
  ProtocolError,
  ProtocolErrorCode,
  type RequestOptions,
} from '@modelcontextprotocol/client';
import * as z from 'zod';
import { decodeTools, listedToolsMax } from '#shared/contracts/tools/listed-tools.ts';
import type { McpTool } from '#shared/domain/mcp/server.ts';
import { cutMiddle, utf8Bytes } from '#shared/domain/text.ts';
import type { RemoteCall, RemoteMcp, RemoteTarget } from '#shared/ports/mcp-servers.ts';
import type { EgressSettings } from '../outbound/checked-address.ts';
import { type Deadline, within } from '../outbound/deadline.ts';
import { openConnection } from './remote-connection.ts';
import { toListError, toOutcomeOf } from './remote-failure.ts';
import { toRemoteOutcome } from './remote-result.ts';

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
