/** Connects to a registered MCP server on request, and records the outcome as a check. */

import { decodeTools } from '../../contracts/tools/listed-tools.ts';
import type { SessionId } from '../../domain/ids.ts';
import type { CheckTimes } from '../../domain/mcp/health.ts';
import { mcpInsideSeconds } from '../../domain/mcp/limits.ts';
import { type Texts, withoutSecrets } from '../../domain/mcp/secrets.ts';
import type { McpServer, StdioConfig } from '../../domain/mcp/server.ts';
import { isElsewhere } from '../../domain/mcp/validate.ts';
import type { Principal } from '../../domain/principal.ts';
import { isAppError } from '../../errors.ts';
import type { Deps, ExecutionDeps, RegistryDeps } from '../deps.ts';
import { type McpOutcome, probe, recordOutcome } from '../registry/check-mcp-server.ts';
import { programOf } from '../registry/mcp-target.ts';
import {
  mcpServerNotFound,
  projectOfRequest,
  type RegistryRequest,
  requireName,
} from '../registry/registry-change.ts';
import { createSession, type SessionDefaults } from '../session/create-session.ts';
import { endSession } from '../turn/requests/end-session.ts';
import { changesTooOften, raceLost, untilWon } from '../write-race.ts';
import { execute } from './execute.ts';

/** `principal`: the holder of the slot while a server in a sandbox is tried. */
export type Trial = InsideProbe & { readonly times: CheckTimes };

export const testMcpServer = async (
  ports: ExecutionDeps & RegistryDeps,
  request: RegistryRequest,
  { name, ...trial }: Omit<Trial, 'principal'> & { readonly name: string },
): Promise<McpOutcome> => {
  const project = await projectOfRequest(ports, request, 'write');
  requireName(name);
  const server = await ports.mcpServers.get(project, name);
  if (server === undefined) throw mcpServerNotFound();
  return tryMcpServer(ports, server, { principal: request.principal, ...trial });
};

export const tryMcpServer = async (
  ports: ExecutionDeps & RegistryDeps,
  server: McpServer,
  { times, ...inside }: Trial,
): Promise<McpOutcome> => {
  const { config } = server;
  const outcome =
    config.transport === 'stdio'
      ? await probeSandbox(ports, { ...server, config }, inside)
      : await probe(ports, server, config);
  await noteOnLatest(ports, server, { outcome, times });
  return outcome;
};

/** A sweep or a change may write concurrently; the outcome counts as long as it is about the same server. */
const noteOnLatest = (
  ports: RegistryDeps,
  tested: McpServer,
  seen: Parameters<typeof recordOutcome>[2],
): Promise<void> =>
  untilWon(async (race) => {
    const server = race === 0 ? tested : await ports.mcpServers.get(tested.project, tested.name);
    if (server === undefined || isElsewhere(server.config, tested.config)) return undefined;
    return (await recordOutcome(ports, server, seen)) === undefined ? raceLost : undefined;
  }, changesTooOften('the MCP server'));

type InsideProbe = {
  readonly principal: Principal;
  readonly defaults: SessionDefaults;
};

type StdioServer = Pick<McpServer, 'project' | 'name'> & { readonly config: StdioConfig };

/**
 * A server that runs in sandboxes is started in an execution session of its own, which lists its tools and ends again. It holds a
 * slot of the owner during that time. Every failure is the server's, worded without secrets.
 */
const probeSandbox = async (
  ports: ExecutionDeps & Deps<'secrets'>,
  server: StdioServer,
  probe: InsideProbe,
): Promise<McpOutcome> => {
  let secrets: Texts = {};
  try {
    secrets = await ports.secrets.read(server.project);
    return await tryInside(ports, { ...server, secrets }, probe);
  } catch (error) {
    if (!isAppError(error))
      ports.telemetry.error('an MCP server could not be tried', { error, name: server.name });
    const said = isAppError(error) ? error.message : 'it could not be tried';
    return { ok: false, error: withoutSecrets(said, server.config, secrets) };
  }
};

const tryInside = async (
  ports: ExecutionDeps & Deps<'secrets'>,
  { secrets, ...server }: StdioServer & { readonly secrets: Texts },
  { principal, defaults }: InsideProbe,
): Promise<McpOutcome> => {
  const program = programOf(server, secrets);
  const id = ports.world.uuid() as SessionId;
  const options = { kind: 'execution', project: server.project } as const;
  const wait = { waitSeconds: 0, evictIdle: false };
  const session = await createSession(ports, { id, principal, options, defaults });
  if (session === undefined) throw new Error('a new session id was taken');
  try {
    const { structured } = await execute(ports, {
      principal,
      sessionId: session.id,
      options,
      defaults,
      wait,
      tool: 'mcp_list',
      argsFor: () => ({ server: program, timeout: mcpInsideSeconds }),
      timeoutSeconds: mcpInsideSeconds,
      onProgress: () => undefined,
    });
    const listed: unknown = structured['tools'];
    return Array.isArray(listed)
      ? { ok: true, tools: decodeTools(listed) }
      : { ok: false, error: 'its tools were not listed' };
  } finally {
    await endSession(ports, session, { reason: 'an MCP server was tried' });
  }
};
