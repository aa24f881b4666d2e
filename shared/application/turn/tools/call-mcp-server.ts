/**
 * Calls registered MCP servers, with the registry as it is when a call runs: remote servers over the network, stdio servers
 * through a call of the sandbox that runs the server. Nothing here rejects. If a server was removed, disabled or given up, a
 * secret is missing, or a table does not answer, the call fails.
 */

import { textOf } from '../../../domain/event-log.ts';
import type { ProjectId } from '../../../domain/ids.ts';
import { type JsonObject, mapTexts } from '../../../domain/json.ts';
import { toolResultCharactersMax } from '../../../domain/limits.ts';
import { mayConnect } from '../../../domain/mcp/health.ts';
import { mcpCallMs } from '../../../domain/mcp/limits.ts';
import {
  namesOfSecrets,
  type Texts,
  withoutProjectSecrets,
  withoutSecrets,
} from '../../../domain/mcp/secrets.ts';
import type { McpServer, McpServerConfig } from '../../../domain/mcp/server.ts';
import type { ServerRoute } from '../../../domain/requested-call.ts';
import { cutMiddle, utf8Bytes } from '../../../domain/text.ts';
import { AppError, isAppError } from '../../../errors.ts';
import type { ToolOutcome, ToolProgress } from '../../../ports/sandbox.ts';
import type { LoopDeps } from '../../deps.ts';
import { recordUse } from '../../registry/check-mcp-server.ts';
import { programOf, targetOf } from '../../registry/mcp-target.ts';

export type RegisteredCall = {
  readonly project: ProjectId;
  readonly route: ServerRoute;
  readonly args: JsonObject;
  readonly onProgress: (progress: ToolProgress) => void;
  readonly signal: AbortSignal;
};

/** A call of the sandbox's own tool `mcp_call`. */
export type StdioAsk = { readonly name: 'mcp_call'; readonly args: JsonObject };
type Failed = Extract<ToolOutcome, { status: 'failed' }>;
type Finished = Extract<ToolOutcome, { status: 'finished' }>;

export const callRemoteServer = async (ports: LoopDeps, call: RegisteredCall): Promise<ToolOutcome> => {
  const { route, args, onProgress, signal } = call;
  try {
    const { server, secrets } = await reachable(ports, call);
    const { config } = server;
    if (config.transport === 'stdio') throw unavailable(server, 'its transport was changed to stdio');
    const target = targetOf(
      { name: server.name, config },
      { secrets, timeoutMs: config.timeout ?? mcpCallMs },
    );
    const startedAt = ports.world.now();
    const hide = (text: string): string => withoutProjectSecrets(text, config, secrets);
    const asked = { target, tool: route.tool, args, onProgress: hidingProgress(onProgress, hide), signal };
    const { httpStatus, ...outcome } = await ports.remoteMcp.call(asked);
    if (!signal.aborted) await recordCall(ports, server, { outcome, httpStatus, startedAt });
    if (outcome.status === 'finished') return mapResult(outcome, hide);
    return outcome.status === 'failed' ? hidden(outcome, config, secrets) : outcome;
  } catch (error) {
    return refusal(ports, error);
  }
};

/** `run` has the sandbox call it. */
export const callStdioServer = async (
  ports: LoopDeps,
  call: RegisteredCall,
  run: (ask: StdioAsk) => Promise<ToolOutcome>,
): Promise<ToolOutcome> => {
  const { route, args } = call;
  try {
    const { server, secrets } = await reachable(ports, call);
    const { name, config } = server;
    if (config.transport !== 'stdio') throw unavailable(server, 'its transport is no longer stdio');
    const timeout = Math.max(1, Math.ceil((config.timeout ?? mcpCallMs) / 1000));
    const program = programOf({ name, config }, secrets);
    const startedAt = ports.world.now();
    const asked = { server: program, tool: route.tool, arguments: args, timeout };
    const outcome = spoken(await run({ name: 'mcp_call', args: asked }));
    if (outcome.status !== 'lost' && !call.signal.aborted)
      await recordCall(ports, server, { outcome, startedAt });
    return outcome.status === 'failed' ? hidden(outcome, config, secrets) : outcome;
  } catch (error) {
    return refusal(ports, error);
  }
};

/** Pieces follow each other by their bytes, also where one became shorter. */
const hidingProgress = (
  onProgress: RegisteredCall['onProgress'],
  hide: (text: string) => string,
): RegisteredCall['onProgress'] => {
  let hiddenBytes = 0;
  return ({ stream, offset, text }) => {
    const shown = hide(text);
    onProgress({ stream, offset: offset - hiddenBytes, text: shown });
    hiddenBytes += utf8Bytes(text) - utf8Bytes(shown);
  };
};

/** A server that repeats a secret in its result does not bring it to the model or the log (R6). */
const mapResult = (
  { content, structured, ...outcome }: Finished,
  hide: (text: string) => string,
): Finished => ({
  ...outcome,
  content: content.map((block) =>
    typeof block['text'] === 'string' ? { ...block, text: hide(block['text']) } : block,
  ),
  ...(structured === undefined ? {} : { structured: mapTexts(structured, hide) as JsonObject }),
});

/** A tool that says it failed has failed, with its own words. One without words has those of its structured content. */
const spoken = (outcome: ToolOutcome): ToolOutcome => {
  if (outcome.status !== 'finished') return outcome;
  const { structured: { structured, is_error: isError } = {} } = outcome;
  const content =
    outcome.content.length > 0 || structured === undefined
      ? outcome.content
      : [{ type: 'text', text: JSON.stringify(structured) }];
  if (isError !== true) return { ...outcome, content };
  const text = cutMiddle(textOf(content), toolResultCharactersMax);
  return {
    status: 'failed',
    code: 'tool_failed',
    message: text === '' ? 'the tool failed without an error message' : text,
  };
};

type Reachable = { readonly server: McpServer; readonly secrets: Texts };

const reachable = async (
  ports: LoopDeps,
  { project, route }: Pick<RegisteredCall, 'project' | 'route'>,
): Promise<Reachable> => {
  const server = await ports.mcpServers.get(project, route.server);
  if (server === undefined)
    throw new AppError('mcp_server_not_found', `the MCP server ${route.server} is no longer registered`);
  if (!server.isEnabled) throw unavailable(server, 'it is disabled');
  if (!mayConnect(server.health, ports.world.now(), ports.mcpTimes))
    throw unavailable(server, server.health.error ?? 'it does not answer');
  return { server, secrets: needsSecrets(server.config) ? await ports.secrets.read(project) : {} };
};

const needsSecrets = (config: McpServerConfig): boolean => {
  const texts = (config.transport === 'stdio' ? config.env : config.headers) ?? {};
  return Object.values(texts).some((text) => namesOfSecrets(text).length > 0);
};

const unavailable = ({ name }: McpServer, why: string): AppError =>
  new AppError('mcp_server_unavailable', `the MCP server ${name} is not connected: ${why}`);

const refusal = ({ telemetry }: LoopDeps, error: unknown): Failed => {
  if (isAppError(error)) return { status: 'failed', code: error.code, message: error.message };
  telemetry.error('an MCP server could not be called', { error });
  return { status: 'failed', code: 'internal_error', message: 'the call failed on our side; it did not run' };
};

const hidden = (outcome: Failed, config: McpServerConfig, secrets: Texts): Failed => ({
  ...outcome,
  message: withoutSecrets(outcome.message, config, secrets),
});

type Called = {
  readonly outcome: ToolOutcome;
  readonly httpStatus?: number | undefined;
  readonly startedAt: number;
};

/** A call that went as the registry expects says nothing new, and costs nothing more. */
const recordCall = async (
  ports: LoopDeps,
  server: McpServer,
  { outcome, httpStatus, startedAt }: Called,
): Promise<void> => {
  const isAway =
    outcome.status === 'lost' ||
    (outcome.status === 'failed' &&
      (outcome.code === 'mcp_server_unavailable' || outcome.structured?.['server_died'] === true));
  if (!isAway && server.health.status === 'healthy') return;
  const error = 'message' in outcome ? outcome.message : '';
  const status = httpStatus === undefined ? {} : { httpStatus };
  const seen = isAway ? ({ ok: false, error, ...status } as const) : ({ ok: true } as const);
  try {
    await recordUse(ports, server, { outcome: seen, startedAt, times: ports.mcpTimes });
  } catch (cause) {
    ports.telemetry.warn('the use of an MCP server was not recorded', { error: cause });
  }
};
