/** `/sessions/{id}/snapshots` and `/restore`: the files of a session's workspace, named, listed, deleted, restored. */

import type { Deps } from '#shared/application/deps.ts';
import {
  deleteSnapshot,
  findSnapshot,
  listSnapshots,
  makeSnapshot,
} from '#shared/application/snapshot/manage-snapshots.ts';
import { restoreSnapshot } from '#shared/application/snapshot/restore-snapshot.ts';
import {
  restoreBody,
  snapshotAnswer,
  snapshotBody,
  snapshotsAnswer,
  snapshotsQuery,
  snapshotView,
} from '#shared/contracts/rest/snapshot-view.ts';
import type { SessionSandboxPorts } from './acquire-for-request.ts';
import { type ApiRoute, json, pathId, principalOf, queryOf } from './api-route.ts';
import { answerWhenDone } from './keep-alive-response.ts';
import { bodyOf } from './request-body.ts';
import { onSession } from './resource-route.ts';

export type SnapshotPorts = SessionSandboxPorts & Deps<'snapshots'>;

const saveErrors = ['resource_limit_exceeded', 'sandbox_unavailable', 'workspace_not_found'] as const;

export const snapshotRoutes = ({
  ports,
  snapshotsMax,
}: {
  readonly ports: SnapshotPorts;
  /** Of one project. */
  readonly snapshotsMax: number;
}): readonly ApiRoute[] => [
  onSession(ports, {
    method: 'POST',
    path: '/api/sessions/{id}/snapshots',
    needs: 'own:write',
    contract: {
      summary: 'Make a snapshot of the workspace, which is saved first',
      body: snapshotBody,
      answers: { 201: snapshotAnswer },
      errors: [...saveErrors, 'project_not_found', 'conflict'],
    },
    handler: async (event, { session }) => {
      const { name } = bodyOf(event, snapshotBody);
      const request = { session, principal: principalOf(event), name, snapshotsMax };
      const { requestId } = event.requestContext;
      return answerWhenDone(async () => snapshotView(await makeSnapshot(ports, request)), {
        requestId,
        telemetry: ports.telemetry,
        status: () => 201,
      });
    },
  }),
  onSession(ports, {
    method: 'GET',
    path: '/api/sessions/{id}/snapshots',
    needs: 'own:read',
    contract: {
      summary: 'List the snapshots of the workspace or of the project, newest first',
      query: snapshotsQuery,
      answers: { 200: snapshotsAnswer },
    },
    handler: async (event, { session }) => {
      const { of } = queryOf(event, snapshotsQuery);
      const snapshots = await listSnapshots(ports, { session, principal: principalOf(event), of });
      return json(200, { snapshots: snapshots.map(snapshotView) });
    },
  }),
  onSession(ports, {
    method: 'DELETE',
    path: '/api/sessions/{id}/snapshots/{snapshotId}',
    needs: 'own:write',
    contract: {
      summary: 'Delete a snapshot of the project of the session',
      answers: { 204: 'empty' },
    },
    handler: async (event, { session: { project } }) => {
      const principal = principalOf(event);
      const find = { project, id: pathId(event, 'snapshotId'), principal, intent: 'write' } as const;
      await deleteSnapshot(ports, await findSnapshot(ports, find), principal);
      return { statusCode: 204, headers: {}, body: '' };
    },
  }),
  onSession(ports, {
    method: 'POST',
    path: '/api/sessions/{id}/restore',
    needs: 'own:write',
    contract: {
      summary: 'Restore a snapshot into the workspace, whose processes end',
      body: restoreBody,
      answers: { 200: snapshotAnswer },
      errors: ['conflict', 'invalid_session_state', 'sandbox_unavailable'],
    },
    handler: async (event, { session }) => {
      const principal = principalOf(event);
      const { snapshot: id } = bodyOf(event, restoreBody);
      const { project } = session;
      const { requestId } = event.requestContext;
      const work = async (): Promise<unknown> => {
        const snapshot = await findSnapshot(ports, { project, id, principal, intent: 'read' });
        await restoreSnapshot(ports, { session, principal, snapshot });
        return snapshotView(snapshot);
      };
      return answerWhenDone(work, { requestId, telemetry: ports.telemetry });
    },
  }),
];
