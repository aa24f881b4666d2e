/**
 * The MCP endpoint: seven tools without sessions, one small MCP server per request.
 *
 * Its library is loaded by the first request, since the platform calls by a route of its own (call-route.ts). A call may carry its
 * id and its wait in `_meta["dev.sallyport/callId"]` and `["dev.sallyport/waitMs"]`. The tools parse their arguments themselves, so that
 * a refusal has the wording of the product.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import type { Server } from '@modelcontextprotocol/server';
import { relayWantedMessage } from '#shared/contracts/relay/wanted.ts';
import { callIdMeta, runningMeta, waitMeta } from '#shared/contracts/sandbox-call.ts';
import { callBytesMax } from './call-route.ts';
import { correlationHeader } from './http-messages.ts';
import type { SandboxRelay } from './relay/relay.ts';
import type { ToolCalls } from './tool-calls.ts';
import { tools } from './tools.ts';
import type { OutputPiece } from './user-side.ts';

type McpParts = {
  readonly calls: ToolCalls;
  readonly relay: Pick<SandboxRelay, 'onWanted'>;
};

export const createMcpEndpoint = (parts: McpParts): McpEndpoint => {
  let opened: Promise<McpEndpoint> | undefined;
  return async (request) => {
    opened ??= import('./protocol.ts').then((protocol) => endpointOver(protocol, parts));
    return (await opened)(request);
  };
};

const endpointOver = ({ createMcpHandler, Server: McpServer }: Protocol, parts: McpParts): McpEndpoint => {
  const serve = (correlationId: string | undefined): Server => {
    const server = new McpServer(
      { name: 'sallyport-sandbox', version: '0.1.0' },
      { capabilities: { tools: {} } },
    );
    server.setRequestHandler('tools/list', () => ({
      tools: tools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        inputSchema: inputSchema(),
      })),
    }));
    server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      let progress = 0;
      const report = (message: string): void => {
        if (progressToken === undefined) return;
        progress += 1;
        // The client may have disconnected; the call goes on.
        mcpReq
          .notify({ method: 'notifications/progress', params: { progressToken, progress, message } })
          .catch(() => undefined);
      };
      const onOutput = (piece: OutputPiece): void => report(JSON.stringify(piece));
      // Without a token, and after its connection was closed, no client hears it.
      const isHeard = progressToken !== undefined;
      const stopTelling = isHeard ? parts.relay.onWanted(() => report(relayWantedMessage)) : () => undefined;
      mcpReq.signal.addEventListener('abort', stopTelling, { once: true });
      const call = {
        name: params.name,
        input: params.arguments,
        callId: mcpReq._meta?.[callIdMeta],
        waitMs: mcpReq._meta?.[waitMeta],
      };
      const asked = { ...call, correlationId, onOutput, signal: mcpReq.signal };
      const result = await parts.calls(asked).finally(stopTelling);
      return result === 'running' ? { content: [], _meta: { [runningMeta]: true } } : result;
    });
    return server;
  };
  const handler = createMcpHandler(
    ({ requestInfo }) => serve(requestInfo?.headers.get(correlationHeader) ?? undefined),
    { maxRequestBodySize: callBytesMax },
  );
  return (request) => handler.fetch(request);
};

type Protocol = typeof import('./protocol.ts');

export type McpEndpoint = (request: Request) => Promise<Response>;

const url = 'http://sandbox/mcp';

export const serveMcp = async (
  mcp: McpEndpoint,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const abort = new AbortController();
  response.once('close', () => abort.abort());
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  const hasBody = request.method === 'POST';
  const answer = await mcp(
    new Request(url, {
      method: request.method ?? 'GET',
      headers,
      signal: abort.signal,
      ...(hasBody ? { body: Readable.toWeb(request) as globalThis.ReadableStream, duplex: 'half' } : {}),
    }),
  );
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.flushHeaders();
  if (answer.body === null) response.end();
  else await pipeline(Readable.fromWeb(answer.body as ReadableStream<Uint8Array>), response);
};
