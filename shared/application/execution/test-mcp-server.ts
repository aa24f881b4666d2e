/** Connects to a registered MCP server on request, and records the outcome as a check. */

import type { CheckTimes } from '../../domain/mcp/health.ts';
import type { McpServer } from '../../domain/mcp/server.ts';
import { isElsewhere } from '../../domain/mcp/validate.ts';
import type { ExecutionDeps, RegistryDeps } from '../deps.ts';
import { type McpOutcome, probe, recordOutcome } from '../registry/check-mcp-server.ts';
import {
  mcpServerNotFound,
  projectOfRequest,
  type RegistryRequest,
  requireName,
} from '../registry/registry-change.ts';
import { changesTooOften, raceLost, untilWon } from '../write-race.ts';
import { type InsideProbe, probeSandbox } from './probe-sandbox.ts';

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
