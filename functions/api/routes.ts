/** The table of routes: method, path, and the file that answers. The smallest are answered here. */

import { issueTicket } from '#shared/application/access/authenticate.ts';
import type { AccessDeps, Deps, ProjectDeps, ScheduleDeps, WebhookDeps } from '#shared/application/deps.ts';
import type { StatsSettings } from '#shared/application/sandbox/resource-stats.ts';
import type { SessionDefaults } from '#shared/application/session/create-session.ts';
import { searchSessions } from '#shared/application/session/search-sessions.ts';
import { accessAnswer, accessView, ticketAnswer } from '#shared/contracts/rest/access-view.ts';
import { openApiAnswer } from '#shared/contracts/rest/deployment-view.ts';
import { foundView, searchAnswer, searchQuery } from '#shared/contracts/rest/search-view.ts';
import type { CheckTimes } from '#shared/domain/mcp/health.ts';
import type { ProviderName } from '#shared/domain/model.ts';
import type { PriceTable } from '#shared/domain/price.ts';
import { searchedSessionsMax } from '#shared/domain/search.ts';
import type { TreeLimits } from '#shared/domain/session-tree.ts';
import type { TurnLimits } from '#shared/domain/turn/turn.ts';
import { auditRoutes, tokenRoutes } from './access-routes.ts';
import { type ApiRoute, json, principalOf, queryOf } from './api-route.ts';
import { type ApprovalPorts, approvalRoutes } from './approval-routes.ts';
import { codeRoutes } from './code-routes.ts';
import { type ConnectedClientPorts, connectedClientRoutes } from './connected-client-routes.ts';
import { callerToolRoutes, conversationRoutes } from './conversation-routes.ts';
import { fileChangeRoutes } from './file-change-routes.ts';
import { type LinkPorts, linkRoutes } from './file-link-routes.ts';
import { fileReadRoutes } from './file-read-routes.ts';
import { type McpPorts, mcpRoutes } from './mcp-routes.ts';
import { modelRoutes } from './model-routes.ts';
import type { Preview } from './preview-routes.ts';
import { processRoutes } from './process-routes.ts';
import { programRoutes } from './program-routes.ts';
import { projectRoutes, secretRoutes } from './project-routes.ts';
import { sandboxRoutes, templateRoutes } from './sandbox-routes.ts';
import { scheduleRoutes } from './schedule-routes.ts';
import { sessionRoutes } from './session-routes.ts';
import { type SnapshotPorts, snapshotRoutes } from './snapshot-routes.ts';
import { statsRoutes } from './stats-routes.ts';
import { webhookRoutes } from './webhook-routes.ts';
import { workspaceRoutes } from './workspace-routes.ts';

export type ApiPorts = Deps<'catalog' | 'tokens' | 'metrics' | 'secrets' | 'auditSeals' | 'sealKey'> &
  SnapshotPorts &
  ProjectDeps &
  McpPorts &
  ScheduleDeps &
  WebhookDeps &
  ApprovalPorts &
  ConnectedClientPorts &
  AccessDeps &
  LinkPorts &
  Preview['ports'];
export type Api = {
  readonly ports: ApiPorts;
  readonly settings: SessionDefaults;
  readonly limits: TurnLimits;
  readonly treeLimits: Required<TreeLimits>;
  readonly snapshotsMax: number;
  readonly stats: StatsSettings;
  readonly mcpTimes: CheckTimes;
  readonly prices: PriceTable;
  readonly configured: readonly ProviderName[];
  readonly publicUrl: string | undefined;
  /** False where an OIDC issuer gives tokens to clients of `/mcp`. */
  readonly isOAuthOn: boolean;
};

export const routes = (api: Api): readonly ApiRoute[] => [
  {
    method: 'POST',
    path: '/api/tickets',
    needs: 'any',
    contract: { summary: 'Create a ticket for a browser, valid for one use', answers: { 201: ticketAnswer } },
    handler: async (event) => json(201, await issueTicket(api.ports, principalOf(event))),
  },
  {
    method: 'GET',
    path: '/api/access',
    needs: 'any',
    contract: {
      summary: 'Show the scope and permissions of the credentials',
      answers: { 200: accessAnswer },
    },
    handler: (event) => Promise.resolve(json(200, accessView(principalOf(event)))),
  },
  ...sessionRoutes(api),
  searchRoute(api),
  ...conversationRoutes(api),
  ...approvalRoutes(api),
  ...auditRoutes(api),
  ...callerToolRoutes(api),
  ...fileReadRoutes(api),
  ...fileChangeRoutes(api),
  ...linkRoutes(api),
  ...snapshotRoutes(api),
  ...sandboxRoutes(api),
  ...programRoutes(api),
  ...processRoutes(api),
  ...codeRoutes(api),
  ...projectRoutes(api),
  ...statsRoutes(api),
  ...workspaceRoutes(api),
  ...secretRoutes(api),
  ...mcpRoutes(api),
  ...scheduleRoutes(api),
  ...webhookRoutes(api),
  ...tokenRoutes(api),
  ...connectedClientRoutes(api),
  ...modelRoutes(api),
  ...templateRoutes(api),
  openApiRoute,
];

const searchRoute = ({ ports }: Pick<Api, 'ports'>): ApiRoute => ({
  method: 'GET',
  path: '/api/search',
  needs: 'own:read',
  contract: {
    summary: 'Find sessions by words in their titles and messages',
    query: searchQuery,
    answers: { 200: searchAnswer },
    errors: ['project_not_found'],
  },
  handler: async (event) => {
    const search = { ...queryOf(event, searchQuery), principal: principalOf(event) };
    const { found, ...rest } = await searchSessions(ports, { ...search, sessionsMax: searchedSessionsMax });
    return json(200, { found: found.map(foundView), ...rest });
  },
});

/** The contract of this API, as `npm run openapi` wrote it beside this file. */
const openApiRoute: ApiRoute = {
  method: 'GET',
  path: '/api/openapi.json',
  needs: 'any',
  contract: { summary: 'Read this document', answers: { 200: openApiAnswer } },
  handler: async () => {
    // Parsed only when it is requested.
    const { default: document } = await import('./openapi.json', { with: { type: 'json' } });
    return json(200, document);
  },
};
