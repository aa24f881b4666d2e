/**
 * The MCP endpoint: seven tools without sessions, one small MCP server per request.
 *
 * A call with an id in `_meta["dev.sallyport/callId"]` outlives its connection, and a repeat is answered from the
 * registry; with `dev.sallyport/waitMs` it is answered by then, even if the call still runs. A call without an id ends with
 * its request. The tools parse their arguments themselves, so that a refusal has
 * the wording of the product.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import type { CallToolResult, Server } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { relayWantedMessage } from '#shared/contracts/relay/wanted.ts';
import { callIdMeta, runningMeta, waitMeta } from '#shared/contracts/sandbox-call.ts';
import { executionSecondsMax } from '#shared/domain/limits.ts';
import type { CallRegistry, CallWork } from './call-registry.ts';
import type { Executor } from './executor.ts';
import { correlationHeader } from './http-messages.ts';
import type { Log } from './logs.ts';
import { Refusal, toErrorResult } from './refusal.ts';
import type { SandboxRelay } from './relay/relay.ts';
import type { StdioCaller } from './stdio-caller.ts';
import { tools } from './tools.ts';
import type { OutputPiece, UserSide } from './user-side.ts';

type McpParts = {
  readonly userSide: UserSide;
  readonly execute: Executor;
  readonly askStdio: StdioCaller;
  readonly registry: CallRegistry;
  readonly relay: Pick<SandboxRelay, 'onWanted'>;
  readonly log: Log;
};

const callIdSchema = z.string().min(1).max(256).optional();
/** As long as any program may run. */
const waitSchema = z
  .int()
  .min(0)
  .max(executionSecondsMax * 1000)
  .optional();
/** Four megabytes of content, each character escaped as `\u0000` at worst, must still arrive at `write_file`. */
const bodyBytesMax = 26 * 1_048_576;

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
      return answer(parts, asked).finally(stopTelling);
    });
    return server;
  };
  const handler = createMcpHandler(
    ({ requestInfo }) => serve(requestInfo?.headers.get(correlationHeader) ?? undefined),
    { maxRequestBodySize: bodyBytesMax },
  );
  return (request) => handler.fetch(request);
};

type Protocol = typeof import('./protocol.ts');

type ToolCall = {
  readonly name: string;
  readonly input: unknown;
  readonly callId: unknown;
  readonly waitMs: unknown;
  readonly correlationId: string | undefined;
  readonly onOutput: (piece: OutputPiece) => void;
  readonly signal: AbortSignal;
};

const answer = async (parts: McpParts, call: ToolCall): Promise<CallToolResult> => {
  const { log, registry, userSide, execute, askStdio } = parts;
  const about = { tool: call.name, callId: String(call.callId ?? ''), correlation_id: call.correlationId };
  const startedAt = performance.now();
  try {
    const tool = tools.find(({ name }) => name === call.name);
    if (tool === undefined)
      throw new Refusal('invalid_request', `there is no tool ${JSON.stringify(call.name)}`);
    const callId = callIdSchema.safeParse(call.callId);
    if (!callId.success) throw new Refusal('invalid_request', 'a call id has 1 to 256 characters');
    const work: CallWork = async (context) =>
      tool.run(call.input, { ...context, userSide, execute, askStdio });
    const waitMs = waitSchema.safeParse(call.waitMs);
    if (!waitMs.success) throw new Refusal('invalid_request', 'a wait is at most an hour, in milliseconds');
    const result = await (callId.data === undefined
      ? work(call)
      : registry.run(callId.data, { onOutput: call.onOutput, waitMs: waitMs.data }, work));
    if (result === 'running') return { content: [], _meta: { [runningMeta]: true } };
    log.info('tool call ended', { ...about, durationMs: Math.round(performance.now() - startedAt) });
    return result;
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    log.warn('tool call failed', { ...about, cause: message.slice(0, causeCharactersMax) });
    return toErrorResult(cause);
  }
};

const causeCharactersMax = 500;

export type McpEndpoint = (request: Request) => Promise<Response>;

const url = 'http://sandbox/mcp';

/** `protocol`: no program runs. `call`: one that does nothing runs as a command of a user would. */
export type Preparation = 'protocol' | 'call';

const questions: Readonly<Record<Preparation, object>> = {
  protocol: { method: 'ping' },
  call: { method: 'tools/call', params: { name: 'execute_command', arguments: { command: 'true' } } },
};

/**
 * Has the endpoint ready for its first call, once, behind what is answered now. The first request loads the library of MCP and all of
 * `fetch`, and compiles the schemas of the protocol; the first call compiles those of its tool, and has the runner run its code for
 * the first time. Both take longer than the program of most commands, and they are not waited for here.
 */
export const prepareOnce = (mcp: McpEndpoint, log: Log): ((what: Preparation) => void) => {
  let isPrepared = false;
  const prepare = async (what: Preparation): Promise<void> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 0, ...questions[what] });
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    await (await mcp(new Request(url, { method: 'POST', headers, body }))).text();
  };
  return (what) => {
    if (isPrepared) return;
    isPrepared = true;
    setImmediate(() =>
      prepare(what).catch((cause: unknown) => log.warn('not prepared', { cause: String(cause) })),
    );
  };
};

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
