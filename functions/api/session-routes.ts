/** `/sessions`: made, listed, shown, ended. */
import { randomUUID } from 'node:crypto';
import type { SessionDefaults } from '#shared/application/create-session.ts';
import { createWithPlace, type PlacePorts } from '#shared/application/create-with-place.ts';
import type { DecidePorts } from '#shared/application/decide-call.ts';
import { type EndPorts, endSession } from '#shared/application/end-session.ts';
import { findSession } from '#shared/application/find-session.ts';
import { createSessionBody, listQuery } from '#shared/contracts/rest.ts';
import { sessionView } from '#shared/contracts/session-view.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { pageItemsMax } from '#shared/domain/limits.ts';
import type { Session } from '#shared/domain/session.ts';
import { idleLimit } from '#shared/domain/session-lifetime.ts';
import type { TurnRecord } from '#shared/domain/turn/turn.ts';
import { AppError } from '#shared/errors.ts';
import { type ApiEvent, bodyOf, pathValue, principalOf, queryOf } from './api-request.ts';
import { type ApiRoute, json } from './api-route.ts';

export type SessionPorts = PlacePorts & EndPorts & DecidePorts;

export const sessionRoutes = ({
  ports,
  settings,
}: {
  readonly ports: SessionPorts;
  readonly settings: SessionDefaults;
}): readonly ApiRoute[] => {
  const show = async (session: Session, turn?: TurnRecord) => {
    const workspace = await ports.workspaces.get(session.workspace);
    return sessionView(session, {
      turn,
      workspace,
      now: ports.world.now(),
      idleMs: idleLimit(session, settings.lifetimes),
    });
  };
  return [
    {
      method: 'POST',
      path: '/api/sessions',
      handler: async (event: ApiEvent) => {
        const { evictIdle, waitSeconds, ...wish } = bodyOf(event, createSessionBody);
        const principal = principalOf(event);
        if (principal.scope.endsWith(':ro'))
          throw new AppError('forbidden', 'this token may read but not write');
        const id = randomUUID() as SessionId;
        const correlationId = event.requestContext.requestId;
        const request = { id, principal, wish, defaults: settings };
        const session = await createWithPlace(ports, request, { waitSeconds, evictIdle, correlationId });
        if (session === undefined) throw new AppError('conflict', 'this session exists');
        return json(201, await show(session));
      },
    },
    {
      method: 'GET',
      path: '/api/sessions',
      handler: async (event: ApiEvent) => {
        const { after, status, project } = queryOf(event, listQuery);
        const page = { itemsMax: pageItemsMax, ...(after === undefined ? {} : { after }) };
        const { sessions, next } = await ports.sessions.list(principalOf(event).owner, page);
        const wanted = sessions.filter(
          (session) =>
            (status === undefined || session.status === status) &&
            (project === undefined || session.project === project),
        );
        const shown = await Promise.all(wanted.map((session) => show(session)));
        return json(200, { sessions: shown, ...(next === undefined ? {} : { next }) });
      },
    },
    {
      method: 'GET',
      path: '/api/sessions/{id}',
      handler: async (event: ApiEvent) => {
        const { session, turn } = await found(ports, event, 'read');
        return json(200, await show(session, turn));
      },
    },
    {
      method: 'DELETE',
      path: '/api/sessions/{id}',
      handler: async (event: ApiEvent) => {
        const { session } = await found(ports, event, 'write');
        const correlationId = event.requestContext.requestId;
        await endSession(ports, session, { reason: 'the session was deleted', correlationId });
        const ended = await ports.sessions.get(session.id);
        return json(200, await show(ended ?? session));
      },
    },
  ];
};

export const found = (
  { sessions }: Pick<SessionPorts, 'sessions'>,
  event: ApiEvent,
  intent: 'read' | 'write',
) => findSession(sessions, { id: pathValue(event, 'id'), principal: principalOf(event), intent });
