/** `/sessions`: made, listed, shown, ended. */
import { randomUUID } from 'node:crypto';
import type { SessionDefaults } from '#shared/application/session/create-session.ts';
import { createWithPlace, type PlacePorts } from '#shared/application/session/create-with-place.ts';
import { type EndPorts, endSession } from '#shared/application/session/end-session.ts';
import { listSessions } from '#shared/application/session/list-sessions.ts';
import type { DecidePorts } from '#shared/application/turn/decide-call.ts';
import { createSessionBody, listQuery, sessionWishOf } from '#shared/contracts/rest.ts';
import { sessionAnswer, sessionsAnswer, sessionView } from '#shared/contracts/session-view.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { pageItemsMax } from '#shared/domain/limits.ts';
import type { Workspace } from '#shared/domain/sandbox.ts';
import type { Session } from '#shared/domain/session.ts';
import { idleLimit } from '#shared/domain/session-lifetime.ts';
import type { TurnRecord } from '#shared/domain/turn/turn.ts';
import { AppError } from '#shared/errors.ts';
import { type ApiEvent, bodyOf, principalOf, queryOf } from './api-request.ts';
import { type ApiRoute, json } from './api-route.ts';
import { onSession } from './resource-route.ts';

export type SessionPorts = PlacePorts & EndPorts & DecidePorts;

export const sessionRoutes = ({
  ports,
  settings,
}: {
  readonly ports: SessionPorts;
  readonly settings: SessionDefaults;
}): readonly ApiRoute[] => {
  const viewOf = (session: Session, workspace: Workspace | undefined, turn?: TurnRecord) =>
    sessionView(session, {
      turn,
      workspace,
      now: ports.world.now(),
      idleMs: idleLimit(session, settings.lifetimes),
    });
  const show = async (session: Session, turn?: TurnRecord) =>
    viewOf(session, await ports.workspaces.get(session.workspace), turn);
  return [
    {
      method: 'POST',
      path: '/api/sessions',
      needs: 'own:write',
      contract: {
        summary: 'Make a session',
        body: createSessionBody,
        answers: { 201: sessionAnswer },
        errors: [
          'invalid_flavor',
          'unsupported_language',
          'provider_not_configured',
          'project_not_found',
          'workspace_not_found',
          'conflict',
          'resource_limit_exceeded',
        ],
      },
      handler: async (event: ApiEvent) => {
        const { evictIdle, waitSeconds, ...wish } = sessionWishOf(bodyOf(event, createSessionBody));
        const id = randomUUID() as SessionId;
        const correlationId = event.requestContext.requestId;
        const request = { id, principal: principalOf(event), wish, defaults: settings };
        const session = await createWithPlace(ports, request, { waitSeconds, evictIdle, correlationId });
        if (session === undefined) throw new AppError('conflict', 'this session exists');
        return json(201, await show(session));
      },
    },
    {
      method: 'GET',
      path: '/api/sessions',
      needs: 'own:read',
      contract: {
        summary: 'List your sessions',
        query: listQuery,
        answers: { 200: sessionsAnswer },
        errors: ['project_not_found'],
      },
      handler: async (event: ApiEvent) => {
        const search = {
          ...queryOf(event, listQuery),
          principal: principalOf(event),
          itemsMax: pageItemsMax,
        };
        const { sessions, ...rest } = await listSessions(ports, search);
        const workspaces = await ports.workspaces.getMany(sessions.map(({ workspace }) => workspace));
        const byId = new Map(workspaces.map((workspace) => [workspace.id, workspace]));
        const shown = sessions.map((session) => viewOf(session, byId.get(session.workspace)));
        return json(200, { sessions: shown, ...rest });
      },
    },
    onSession(ports, {
      method: 'GET',
      path: '/api/sessions/{id}',
      needs: 'own:read',
      contract: { summary: 'Show a session', answers: { 200: sessionAnswer } },
      handler: async (_event, { session, turn }) => json(200, await show(session, turn)),
    }),
    onSession(ports, {
      method: 'DELETE',
      path: '/api/sessions/{id}',
      needs: 'own:write',
      contract: { summary: 'End a session and its sandbox', answers: { 200: sessionAnswer } },
      handler: async (event, { session }) => {
        const correlationId = event.requestContext.requestId;
        await endSession(ports, session, { reason: 'the session was deleted', correlationId });
        const ended = await ports.sessions.get(session.id);
        return json(200, await show(ended ?? session));
      },
    }),
  ];
};
