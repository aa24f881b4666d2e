/** Changes a registered MCP server, or enables or disables it: one write over the version that was read. */

import { dueAtOf, renewedHealth, shownStatus } from '../../domain/mcp/health.ts';
import type { McpServer } from '../../domain/mcp/server.ts';
import { isElsewhere, isObject, type Kept, validateChange } from '../../domain/mcp/validate.ts';
import { AppError } from '../../errors.ts';
import type { Deps, RegistryChangeDeps } from '../deps.ts';
import { changesTooOften, raceLost, untilWon } from '../write-race.ts';
import {
  announce,
  checkAddress,
  mcpServerNotFound,
  projectOfRequest,
  type RegistryRequest,
  requireName,
  valid,
} from './registry-change.ts';

/** Given fields replace the existing ones, null removes one; the result must be a whole server. */
export const changeMcpServer = async (
  ports: RegistryChangeDeps,
  request: RegistryRequest,
  { name, change }: { readonly name: string; readonly change: unknown },
): Promise<McpServer> => {
  const project = await projectOfRequest(ports, request, 'write');
  requireName(name);
  if (!isObject(change)) throw new AppError('invalid_request', 'Config is required and must be an object');
  const changed = await rewrite(ports, { project, name }, async (server) => {
    const kept = valid(validateChange(server, change));
    if (isElsewhere(server.config, kept.config)) await checkAddress(ports, kept.config);
    return changedServer(server, kept);
  });
  await announce(ports, request, { server: changed, action: 'mcp.change', status: shownStatus(changed) });
  return changed;
};

/** Where another server may answer, the known health and tools are dropped; one that is not healthy starts afresh. */
const changedServer = (server: McpServer, { config, isEnabled }: Kept): McpServer => {
  const { tools, health, ...rest } = server;
  const isOther = isElsewhere(server.config, config);
  const isRenewed = isOther || health.status !== 'healthy' || (isEnabled && !server.isEnabled);
  return {
    ...rest,
    config,
    isEnabled,
    health: isRenewed ? renewedHealth(health) : health,
    ...(tools === undefined || isOther ? {} : { tools }),
  };
};

/** Enabling an enabled, healthy server, or disabling a disabled one, changes nothing. */
export const switchMcpServer = async (
  ports: RegistryChangeDeps,
  request: RegistryRequest,
  { name, isEnabled }: { readonly name: string; readonly isEnabled: boolean },
): Promise<McpServer> => {
  const project = await projectOfRequest(ports, request, 'write');
  requireName(name);
  const before = await ports.mcpServers.get(project, name);
  if (before?.isEnabled === isEnabled && (!isEnabled || before.health.status === 'healthy')) return before;
  const server = await rewrite(ports, { project, name }, (found) =>
    Promise.resolve({
      ...found,
      isEnabled,
      health: isEnabled ? renewedHealth(found.health) : found.health,
    }),
  );
  const action = isEnabled ? 'mcp.enable' : 'mcp.disable';
  await announce(ports, request, { server, action, status: shownStatus(server) });
  return server;
};

/** Reads, decides and writes, and repeats that after a concurrent write; due at once, if it is checked at all. */
const rewrite = (
  { mcpServers, world }: Deps<'mcpServers' | 'world'>,
  { project, name }: Pick<McpServer, 'project' | 'name'>,
  decide: (server: McpServer) => Promise<McpServer>,
): Promise<McpServer> =>
  untilWon(async () => {
    const server = await mcpServers.get(project, name);
    if (server === undefined) throw mcpServerNotFound();
    const next = await decide(server);
    const dueAt = dueAtOf(next, world.now());
    const due = dueAt === undefined ? {} : { dueAt };
    return (await mcpServers.replace(next, { version: server.version, ...due })) ?? raceLost;
  }, changesTooOften('the MCP server'));
