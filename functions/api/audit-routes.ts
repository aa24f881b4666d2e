/** `/audit`: the rows of the audit log, the newest first. */
import { auditAnswer, auditQuery, auditView } from '#shared/contracts/rest/access-view.ts';
import type { ProjectId } from '#shared/domain/ids.ts';
import { pageItemsMax } from '#shared/domain/limits.ts';
import type { AuditLog } from '#shared/ports/audit-log.ts';
import type { World } from '#shared/ports/world.ts';
import { queryOf } from './api-request.ts';
import { type ApiRoute, json } from './api-route.ts';

export type AuditReadPorts = { readonly auditLog: Pick<AuditLog, 'list'>; readonly world: World };

export const auditRoutes = ({ ports }: { readonly ports: AuditReadPorts }): readonly ApiRoute[] => [
  {
    method: 'GET',
    path: '/api/audit',
    needs: 'admin:read',
    contract: {
      summary: 'Read the audit log, newest first',
      query: auditQuery,
      answers: { 200: auditAnswer },
    },
    handler: async (event) => {
      const { project, after } = queryOf(event, auditQuery);
      const { rows, ...rest } = await ports.auditLog.list({
        now: ports.world.now(),
        project: project as ProjectId | undefined,
        after,
        itemsMax: pageItemsMax,
      });
      return json(200, { rows: rows.map(auditView), ...rest });
    },
  },
];
