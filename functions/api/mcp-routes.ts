/** `/mcp`: the MCP servers of a project, registered, changed, switched, tested, and their health. */

import type { AuditDeps, Deps, ExecutionDeps, RegistryDeps } from '#shared/application/deps.ts';
import { testMcpServer } from '#shared/application/execution/test-mcp-server.ts';
import {
  addMcpServer,
  changeMcpServer,
  listMcpServers,
  removeMcpServer,
  switchMcpServer,
} from '#shared/application/registry/manage-mcp-servers.ts';
import type { RegistryRequest } from '#shared/application/registry/registry-change.ts';
import type { SessionDefaults } from '#shared/application/session/create-session.ts';
import {
  addServerBody,
  changedFields,
  changeServerBody,
  healthAnswer,
  healthView,
  messageAnswer,
  projectQuery,
  removedAnswer,
  savedAnswer,
  savedView,
  serversAnswer,
  serverView,
  testAnswer,
  testView,
} from '#shared/contracts/rest/mcp-server-view.ts';
import type { CheckTimes } from '#shared/domain/mcp/health.ts';
import { type ApiEvent, type ApiRoute, json, pathValue, principalOf, queryOf } from './api-route.ts';
import { answerWhenDone } from './keep-alive-response.ts';
import { fieldsOf, knownBody } from './request-body.ts';

export type McpPorts = ExecutionDeps & RegistryDeps & AuditDeps & Deps<'addressGuard'>;

type McpApi = {
  readonly ports: McpPorts;
  readonly mcpTimes: CheckTimes;
  readonly settings: SessionDefaults;
};

export const mcpRoutes = ({ ports, mcpTimes: times, settings: defaults }: McpApi): readonly ApiRoute[] => [
  ...readingRoutes(ports),
  ...writingRoutes(ports),
  ...(['enable', 'disable'] as const).map((change) => switchRoute(ports, change)),
  {
    method: 'POST',
    path: '/api/mcp/{name}/test',
    needs: 'own:write',
    contract: {
      summary: 'Connect to an MCP server and list its tools',
      query: projectQuery,
      answers: { 200: testAnswer },
      errors: ['project_not_found', 'mcp_server_not_found'],
    },
    handler: async (event) => {
      const trial = { name: nameOf(event), times, defaults };
      const request = requestOf(event);
      const { requestId } = event.requestContext;
      // A server on stdio is tried in a sandbox, which is started for it.
      return answerWhenDone(async () => testView(await testMcpServer(ports, request, trial)), {
        requestId,
        telemetry: ports.telemetry,
      });
    },
  },
];

const readingRoutes = (ports: McpPorts): readonly ApiRoute[] => [
  {
    method: 'GET',
    path: '/api/mcp',
    needs: 'own:read',
    contract: {
      summary: 'List the MCP servers of a project',
      query: projectQuery,
      answers: { 200: serversAnswer },
      errors: ['project_not_found'],
    },
    handler: async (event) =>
      json(200, { servers: (await listMcpServers(ports, requestOf(event))).map(serverView) }),
  },
  {
    method: 'GET',
    path: '/api/mcp/health',
    needs: 'own:read',
    contract: {
      summary: 'Show the health of the enabled MCP servers of a project',
      query: projectQuery,
      answers: { 200: healthAnswer },
      errors: ['project_not_found'],
    },
    handler: async (event) => json(200, healthView(await listMcpServers(ports, requestOf(event)))),
  },
];

/** A body that is no object has no fields: the first required one is missing. */
const addedFields = (event: ApiEvent): Readonly<Record<string, unknown>> => {
  const body = knownBody(event, addServerBody);
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...body } : {};
};

const writingRoutes = (ports: McpPorts): readonly ApiRoute[] => [
  {
    method: 'POST',
    path: '/api/mcp/add',
    needs: 'own:write',
    contract: {
      summary: 'Register an MCP server',
      query: projectQuery,
      body: addServerBody,
      answers: { 201: savedAnswer },
      errors: ['project_not_found', 'conflict', 'resource_limit_exceeded'],
    },
    handler: async (event) => {
      const server = await addMcpServer(ports, requestOf(event), addedFields(event));
      return json(201, savedView(server, 'MCP server added successfully'));
    },
  },
  {
    method: 'PATCH',
    path: '/api/mcp/{name}',
    needs: 'own:write',
    contract: {
      summary: 'Change an MCP server',
      query: projectQuery,
      body: changeServerBody,
      answers: { 200: savedAnswer },
      errors: ['project_not_found', 'mcp_server_not_found', 'conflict'],
    },
    handler: async (event) => {
      const change = changedFields(fieldsOf(event, changeServerBody));
      const server = await changeMcpServer(ports, requestOf(event), { name: nameOf(event), change });
      return json(200, savedView(server, 'MCP server updated successfully'));
    },
  },
  {
    method: 'DELETE',
    path: '/api/mcp/{name}',
    needs: 'own:write',
    contract: {
      summary: 'Remove an MCP server',
      query: projectQuery,
      answers: { 200: removedAnswer },
      errors: ['project_not_found', 'mcp_server_not_found'],
    },
    handler: async (event) => {
      await removeMcpServer(ports, requestOf(event), nameOf(event));
      return json(200, { message: 'MCP server removed successfully' });
    },
  },
];

const switchRoute = (ports: McpPorts, change: 'enable' | 'disable'): ApiRoute => ({
  method: 'POST',
  path: `/api/mcp/{name}/${change}`,
  needs: 'own:write',
  contract: {
    summary: change === 'enable' ? 'Enable an MCP server' : 'Disable an MCP server',
    query: projectQuery,
    answers: { 200: messageAnswer },
    errors: ['project_not_found', 'mcp_server_not_found', 'conflict'],
  },
  handler: async (event) => {
    const options = { name: nameOf(event), isEnabled: change === 'enable' };
    const { name } = await switchMcpServer(ports, requestOf(event), options);
    return json(200, { message: `MCP server ${change}d successfully`, name });
  },
});

const nameOf = (event: ApiEvent): string => pathValue(event, 'name');

const requestOf = (event: ApiEvent): RegistryRequest => ({
  principal: principalOf(event),
  project: queryOf(event, projectQuery).project,
});
