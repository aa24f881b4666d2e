/** The table of routes: method, path, and which file answers. */
import { type AccessPorts, issueTicket } from '#shared/application/authenticate.ts';
import type { SessionDefaults } from '#shared/application/create-session.ts';
import type { TokenPorts } from '#shared/application/manage-tokens.ts';
import type { LogPorts } from '#shared/application/read-logs.ts';
import type { StatsSettings } from '#shared/application/resource-stats.ts';
import type { TurnLimits } from '#shared/domain/turn/turn.ts';
import type { ModelCatalog } from '#shared/ports/model-catalog.ts';
import { principalOf } from './api-request.ts';
import { type ApiRoute, json } from './api-route.ts';
import { conversationRoutes } from './conversation-routes.ts';
import { fileRoutes } from './file-routes.ts';
import type { InsidePorts } from './inside.ts';
import { modelRoutes } from './model-routes.ts';
import type { Preview } from './preview-routes.ts';
import { type ProjectPorts, projectRoutes } from './project-routes.ts';
import { sandboxRoutes } from './sandbox-routes.ts';
import { sessionRoutes } from './session-routes.ts';
import { tokenRoutes } from './token-routes.ts';

export type ApiPorts = { readonly catalog: ModelCatalog } & TokenPorts &
  InsidePorts &
  ProjectPorts &
  LogPorts &
  AccessPorts &
  Preview['ports'];
export type Api = {
  readonly ports: ApiPorts;
  readonly settings: SessionDefaults;
  readonly limits: TurnLimits;
  readonly stats: StatsSettings;
};

export const routes = (api: Api): readonly ApiRoute[] => [
  {
    method: 'POST',
    path: '/api/tickets',
    handler: async (event) => json(201, await issueTicket(api.ports, principalOf(event))),
  },
  ...sessionRoutes(api),
  ...conversationRoutes(api),
  ...fileRoutes(api),
  ...sandboxRoutes(api),
  ...projectRoutes(api),
  ...tokenRoutes(api),
  ...modelRoutes(api),
];
