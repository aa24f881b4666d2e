/** The MCP servers of a project: listed, added, changed, enabled, removed. A change is one write over the version that was read. */

import { dueAtOf, renewedHealth, shownStatus, unknownHealth } from '../../domain/mcp/health.ts';
import { mcpServersPerProjectMax } from '../../domain/mcp/limits.ts';
import type { McpServer } from '../../domain/mcp/server.ts';
import {
  isElsewhere,
  isObject,
  type Kept,
  validateChange,
  validateServer,
} from '../../domain/mcp/validate.ts';
import { AppError } from '../../errors.ts';
import { projectNotFound } from '../access/find-project.ts';
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

export const listMcpServers = async (
  ports: Deps<'projects' | 'mcpServers'>,
  request: RegistryRequest,
): Promise<readonly McpServer[]> => ports.mcpServers.list(await projectOfRequest(ports, request, 'read'));

export const addMcpServer = async (
  ports: RegistryChangeDeps,
  request: RegistryRequest,
  options: { readonly name?: unknown; readonly config?: unknown },
): Promise<McpServer> => {
  const project = await projectOfRequest(ports, request, 'write');
  const { name, config, isEnabled } = valid(validateServer(options.name, options.config));
  await checkAddress(ports, config);
  const createdAt = ports.world.now();
  const server: McpServer = {
    project,
    name,
    config,
    isEnabled,
    health: unknownHealth,
    createdAt,
    version: 0,
  };
  const dueAt = dueAtOf(server, createdAt);
  const due = dueAt === undefined ? {} : { dueAt };
  const result = await ports.mcpServers.add(server, { serversMax: mcpServersPerProjectMax, ...due });
  if (result === 'exists') throw new AppError('conflict', `MCP server '${name}' already exists`);
  if (result === 'full') throw tooMany();
  if (result === 'gone') throw projectNotFound();
  await announce(ports, request, { server, action: 'mcp.add', status: shownStatus(server) });
  return server;
};

export const removeMcpServer = async (
  ports: RegistryChangeDeps,
  request: RegistryRequest,
  name: string,
): Promise<void> => {
  const project = await projectOfRequest(ports, request, 'write');
  requireName(name);
  const server = await ports.mcpServers.remove(project, name);
  if (server === undefined) throw mcpServerNotFound();
  await announce(ports, request, { server, action: 'mcp.remove', status: 'removed' });
};

const tooMany = (): AppError =>
  new AppError('resource_limit_exceeded', `a project has at most ${mcpServersPerProjectMax} MCP servers`, {
    suggestions: ['Remove one that is no longer used.'],
  });

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
