/**
 * The server of our tools, for one request: lists them, and runs one as a call that its client can cancel.
 *
 * A tool's refusal is a result; an unexpected failure is logged and shows no details. A cancelled call has no
 * client to answer, and is no fault.
 */
import {
  type CallToolResult,
  type ContentBlock,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { recordRefusal } from '#shared/application/access/record-refusal.ts';
import { runCancellable } from '#shared/application/execution/running-calls.ts';
import { AppError, isAppError } from '#shared/errors.ts';
import type { Tool } from './define-tool.ts';
import type { EndpointContext, MakeServer } from './endpoint-context.ts';
import { openProgress } from './progress.ts';
import { openTelling } from './session-log.ts';
import { toErrorResult } from './tool-error.ts';
import { WellFormedServer } from './well-formed-server.ts';

const serverInfo = { name: 'sallyport', version: '0.1.0' };
const instructions =
  'Runs code and commands in isolated sandboxes. A session keeps its files between calls: pass on the session_id of the first result, and stop the session when it is no longer needed.';

type Mcp = ServerContext['mcpReq'];

export const toolServer =
  (tools: readonly Tool[]): MakeServer =>
  (context, { era }) => {
    const server = new WellFormedServer(serverInfo, {
      capabilities: { tools: {}, logging: {} },
      instructions,
    });
    const shown = tools.map(({ run: _run, needs: _needs, ...listed }) => listed);
    server.setRequestHandler('tools/list', () => ({ tools: shown }));
    server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
      const tool = tools.find(({ name }) => name === params.name);
      if (tool === undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'there is no such tool');
      const request = { tokenHash: context.principal.tokenHash, requestId: mcpReq.id };
      return runCancellable(context.ports, request, (cancelled) => {
        // Before 2026 a lost connection is no cancellation: the call goes on.
        const signal = era === 'legacy' ? cancelled : AbortSignal.any([mcpReq.signal, cancelled]);
        return callTool(tool, params.arguments, { context, mcpReq, signal });
      });
    });
    return server;
  };

type Call = { readonly context: EndpointContext; readonly mcpReq: Mcp; readonly signal: AbortSignal };

const callTool = async (
  tool: Tool,
  input: unknown,
  { context, mcpReq, signal }: Call,
): Promise<CallToolResult> => {
  const { ports, correlationId } = context;
  const { onProgress, onPhase, stop } = openProgress(mcpReq);
  try {
    const blocks: ContentBlock[] = [];
    const show = (block: ContentBlock): void => void blocks.push(block);
    const heard = { gone: mcpReq.signal, tell: openTelling(mcpReq), onProgress, onPhase, show };
    const structuredContent = await tool.run(input, { ...context, signal, ...heard });
    const text = JSON.stringify(structuredContent);
    return { content: [{ type: 'text', text }, ...blocks], structuredContent };
  } catch (error) {
    if (isAppError(error)) {
      recordRefusal(ports.telemetry, error, { tool: tool.name });
      return toErrorResult(error, correlationId);
    }
    if (signal.aborted)
      return toErrorResult(new AppError('conflict', 'the call was cancelled'), correlationId);
    recordRefusal(ports.telemetry, error, { tool: tool.name });
    return toErrorResult(error, correlationId);
  } finally {
    stop();
  }
};
