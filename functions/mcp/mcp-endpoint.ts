/**
 * The MCP endpoint: one request in, one response out, nothing kept between them.
 *
 * The SDK speaks the protocol, of this year and of the years before, and answers as a stream from the
 * start, so that keep-alives and progress flow at once. A client that accepts no stream gets its answer as
 * JSON when it is there. No function stays up for a client that wants to listen: nothing would be said.
 */
import {
  type CallToolResult,
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { requestBodyBytesMax } from '#shared/domain/limits.ts';
import { isAppError } from '#shared/errors.ts';
import type { Tool, ToolContext } from './define-tool.ts';
import type { DisplayedContent } from './displayed-content.ts';
import { acceptsStream, toJsonResponse } from './json-response.ts';
import { openProgress } from './progress.ts';
import { toErrorResult } from './tool-error.ts';

/** All of a tool's context but what its own request brings. */
export type EndpointContext = Omit<ToolContext, 'signal' | 'onProgress' | 'show'>;

const serverInfo = { name: 'sallyport', version: '0.1.0' };
const instructions =
  'Runs code and commands in isolated sandboxes. A session keeps its files between calls: pass on the session_id of the first result, and stop the session when it is no longer needed.';
const keepAliveMs = 10_000;
const reasonCharactersMax = 200;

export const answerMcp = async (
  request: Request,
  tools: readonly Tool[],
  context: EndpointContext,
): Promise<Response> => {
  const { telemetry } = context.ports;
  const handler = createMcpHandler(() => makeServer(tools, context), {
    responseMode: 'sse',
    keepAliveMs,
    maxRequestBodySize: requestBodyBytesMax,
    maxSubscriptions: 0,
    onerror: ({ message }) =>
      telemetry.warn('an MCP request went wrong', { reason: message.slice(0, reasonCharactersMax) }),
  });
  const isStream = acceptsStream(request);
  // The older protocol refuses a client that does not accept both forms; this one serves each in its own.
  request.headers.set('accept', 'application/json, text/event-stream');
  const response = await handler.fetch(request);
  return isStream ? response : toJsonResponse(response);
};

const makeServer = (tools: readonly Tool[], context: EndpointContext): Server => {
  const server = new Server(serverInfo, { capabilities: { tools: {} }, instructions });
  server.setRequestHandler('tools/list', () => ({ tools: tools.map(({ run: _, ...shown }) => shown) }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'there is no such tool');
    return callTool(tool, params.arguments, { context, mcpReq });
  });
  return server;
};

const callTool = async (
  tool: Tool,
  input: unknown,
  { context, mcpReq }: { readonly context: EndpointContext; readonly mcpReq: ServerContext['mcpReq'] },
): Promise<CallToolResult> => {
  const { ports, correlationId } = context;
  const { onProgress, stop } = openProgress(mcpReq);
  try {
    const shown: DisplayedContent[] = [];
    const show = (block: DisplayedContent): void => void shown.push(block);
    const structuredContent = await tool.run(input, { ...context, signal: mcpReq.signal, onProgress, show });
    const text = JSON.stringify(structuredContent);
    return { content: [{ type: 'text', text }, ...shown], structuredContent };
  } catch (error) {
    if (!isAppError(error)) ports.telemetry.error('a tool failed', { error, tool: tool.name, correlationId });
    return toErrorResult(error, correlationId);
  } finally {
    stop();
  }
};
