/** The MCP servers of a project: listed, added, removed. `change-mcp-server.ts` changes them. */

import { dueAtOf, shownStatus, unknownHealth } from '../../domain/mcp/health.ts';
import { mcpServersPerProjectMax } from '../../domain/mcp/limits.ts';
import type { McpServer } from '../../domain/mcp/server.ts';
import { validateServer } from '../../domain/mcp/validate.ts';
import { AppError } from '../../errors.ts';
import { projectNotFound } from '../access/find-project.ts';
import type { Deps, RegistryChangeDeps } from '../deps.ts';
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
