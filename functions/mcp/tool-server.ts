/**
 * The server of our tools, for one request: lists them, and runs one as a call that its client can cancel.
 *
 * A tool's refusal is a result; an unexpected failure is logged and shows no details. A cancelled call has no
 * client to answer, and is no fault.
 */
import {
  type CallToolResult,
  type ContentBlock,
  type JSONRPCRequest,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { recordRefusal } from '#shared/application/access/record-refusal.ts';
import { runCancellable } from '#shared/application/execution/running-calls.ts';
import { mayUse } from '#shared/domain/access.ts';
import { countedAs, type Principal } from '#shared/domain/principal.ts';
import { AppError, isAppError } from '#shared/errors.ts';
import { openProgress, openTelling } from './client-notifications.ts';
import type { Tool } from './define-tool.ts';
import type { EndpointContext, MakeServer } from './mcp-endpoint.ts';
import { type Reading, readingOf, resultOf, toErrorResult } from './result-content.ts';

const serverInfo = { name: 'sallyport', version: '0.1.0' };
const instructions =
  'Runs code and commands in isolated sandboxes. A session keeps its files between calls: pass on the session_id of the first result, and stop the session when it is no longer needed.';

export const toolServer =
  (tools: readonly Tool[]): MakeServer =>
  (context, { era, requestInfo }) => {
    const server = new WellFormedServer(serverInfo, {
      capabilities: { tools: {}, logging: {} },
      instructions,
    });
    const revision = era === 'modern' ? undefined : requestInfo?.headers.get(revisionHeader);
    const reads = readingOf(revision, era === 'modern');
    server.setRequestHandler('tools/list', () => ({
      tools: listedTools(tools, context.principal, reads === 'fields'),
    }));
    server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
      const tool = tools.find(({ name }) => name === params.name);
      if (tool === undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'there is no such tool');
      const request = { credential: countedAs(context.principal), requestId: mcpReq.id };
      return runCancellable(context.ports, request, (cancelled) => {
        const endsWithStream = era === 'modern' || !canComeBack(mcpReq);
        const signal = endsWithStream ? AbortSignal.any([mcpReq.signal, cancelled]) : cancelled;
        return callTool(tool, params.arguments, { context, mcpReq, signal, reads });
      });
    });
    return server;
  };

/**
 * Before 2026 a lost connection is no cancellation by itself. No stream of ours can be taken up again: a client finds its
 * call's work only by the session, which progress names. No client could ever hear of a call without progress.
 */
const canComeBack = ({ _meta }: ServerContext['mcpReq']): boolean => _meta?.progressToken !== undefined;

const revisionHeader = 'mcp-protocol-version';

/** The tools, and their actions, that the client's token allows. */
const listedTools = (tools: readonly Tool[], principal: Principal, hasOutputs: boolean) =>
  tools.flatMap((tool) => {
    const shown = tool.shownTo((permission) => mayUse(principal, permission));
    if (shown === undefined) return [];
    const { outputSchema, ...rest } = shown;
    return [hasOutputs ? { ...rest, outputSchema } : rest];
  });

type Call = {
  readonly context: EndpointContext;
  readonly mcpReq: ServerContext['mcpReq'];
  readonly signal: AbortSignal;
  readonly reads: Reading;
};

const callTool = async (
  tool: Tool,
  input: unknown,
  { context, mcpReq, signal, reads }: Call,
): Promise<CallToolResult> => {
  const { ports } = context;
  const { stop, ...progress } = openProgress(mcpReq);
  try {
    const blocks: ContentBlock[] = [];
    const show = (block: ContentBlock): void => void blocks.push(block);
    const heard = { gone: mcpReq.signal, tell: openTelling(mcpReq), ...progress, show };
    const fields = await tool.run(input, { ...context, signal, ...heard });
    const { text, ...rest } = resultOf(fields, reads);
    return { content: [{ type: 'text', text }, ...blocks], ...rest };
  } catch (error) {
    if (isAppError(error)) {
      recordRefusal(ports.telemetry, error, { tool: tool.name });
      return toErrorResult(error, ports.correlation.id());
    }
    if (signal.aborted)
      return toErrorResult(new AppError('conflict', 'the call was cancelled'), ports.correlation.id());
    recordRefusal(ports.telemetry, error, { tool: tool.name });
    return toErrorResult(error, ports.correlation.id());
  } finally {
    stop();
  }
};

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

/**
 * The SDK's server, with JSON-RPC's own error for malformed parameters: invalid parameters. By itself it calls them an
 * internal error, tools/call apart: `Protocol.setRequestHandler` throws an `Error` without a code, with a validator's
 * text (@modelcontextprotocol/server 2.4).
 * https://www.jsonrpc.org/specification, 5.1
 */
class WellFormedServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const wrapped = super._wrapHandler(method, handler);
    return async (request, context) => {
      try {
        return await wrapped(request, context);
      } catch (cause) {
        if (cause instanceof ProtocolError) throw cause;
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid params for ${method}`);
      }
    };
  }
}
