/** What a session's sandbox did and said, and the ports of it that are leased for preview. */
import { leasePort } from '#shared/application/lease-port.ts';
import { readLogs } from '#shared/application/read-logs.ts';
import { leaseBody } from '#shared/contracts/rest.ts';
import { bodyOf } from './api-request.ts';
import { type ApiRoute, json } from './api-route.ts';
import { type InsidePorts, type InsideSettings, inside } from './inside.ts';
import { found } from './session-routes.ts';

export const sandboxRoutes = ({
  ports,
  settings,
}: {
  readonly ports: InsidePorts;
  readonly settings: InsideSettings;
}): readonly ApiRoute[] => [
  {
    method: 'GET',
    path: '/api/sessions/{id}/logs',
    handler: async (event) => {
      const { session } = await found(ports, event, 'read');
      const lines = await readLogs(ports, session);
      return json(200, {
        lines: lines.map(({ at, ...line }) => ({ at: new Date(at).toISOString(), ...line })),
      });
    },
  },
  {
    method: 'GET',
    path: '/api/sessions/{id}/ports',
    handler: async (event) => {
      const { session } = await found(ports, event, 'read');
      const leased = (await ports.workspaces.get(session.workspace))?.sandbox?.ports ?? [];
      return json(200, { ports: leased.map((port) => portView(session.id, port)) });
    },
  },
  {
    method: 'POST',
    path: '/api/sessions/{id}/ports',
    handler: async (event) => {
      const { port: wanted } = bodyOf(event, leaseBody);
      const sandbox = await inside(ports, event, { intent: 'write', settings });
      const port = await leasePort(ports, sandbox, wanted);
      const id = event.pathParameters?.['id'] ?? '';
      return json(201, portView(id, port));
    },
  },
];

const portView = (sessionId: string, port: number) => ({
  port,
  path: `/api/sessions/${sessionId}/ports/${port}/`,
});
