/** The table of routes: method, path, and which file answers. */
import type { AccessPorts } from '#shared/application/authenticate.ts';
import { issueTicket } from '#shared/application/authenticate.ts';
import type { SessionDefaults } from '#shared/application/create-session.ts';
import type { TurnLimits } from '#shared/domain/turn/turn.ts';
import type { ApiRoute } from './answer.ts';
import { json } from './answer.ts';
import { principalOf } from './api-request.ts';
import { conversationRoutes } from './conversation-routes.ts';
import { type FilePorts, fileRoutes } from './file-routes.ts';
import { type SessionPorts, sessionRoutes } from './session-routes.ts';

export type ApiPorts = SessionPorts & FilePorts & AccessPorts;
export type Api = {
  readonly ports: ApiPorts;
  readonly settings: SessionDefaults;
  readonly limits: TurnLimits;
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
];
