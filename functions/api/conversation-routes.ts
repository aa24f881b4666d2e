/** What is said in a session: messages in, events out, approvals decided. */
import { acceptMessage } from '#shared/application/accept-message.ts';
import { cancelTurn } from '#shared/application/cancel-turn.ts';
import type { SessionDefaults } from '#shared/application/create-session.ts';
import { decideCall } from '#shared/application/decide-call.ts';
import { readEvents } from '#shared/application/read-events.ts';
import { eventsQuery } from '#shared/contracts/rest.ts';
import { approval, userMessage } from '#shared/contracts/socket-actions.ts';
import type { TurnLimits } from '#shared/domain/turn/turn.ts';
import { type ApiEvent, bodyOf, pathValue, queryOf } from './api-request.ts';
import { type ApiRoute, json } from './api-route.ts';
import { found, type SessionPorts } from './session-routes.ts';

export const conversationRoutes = ({
  ports,
  limits,
  settings,
}: {
  readonly ports: SessionPorts;
  readonly limits: TurnLimits;
  readonly settings: SessionDefaults;
}): readonly ApiRoute[] => [
  {
    method: 'POST',
    path: '/api/sessions/{id}/messages',
    handler: async (event: ApiEvent) => {
      const message = bodyOf(event, userMessage);
      const placesMax = settings.places.agentMax;
      const { session } = await found(ports, event, 'write');
      const correlationId = event.requestContext.requestId;
      const messageId = await acceptMessage(ports, session, { ...message, correlationId, placesMax });
      return json(202, { messageId, lastSeq: session.lastSeq });
    },
  },
  {
    method: 'GET',
    path: '/api/sessions/{id}/messages',
    handler: async (event: ApiEvent) => {
      const { session } = await found(ports, event, 'read');
      return json(200, { messages: await ports.sessions.history(session.id) });
    },
  },
  {
    method: 'GET',
    path: '/api/sessions/{id}/events',
    handler: async (event: ApiEvent) => {
      const { since_index: since, max_events: eventsMax } = queryOf(event, eventsQuery);
      const { session } = await found(ports, event, 'read');
      return json(200, await readEvents(ports.sessions, session, { since, eventsMax }));
    },
  },
  {
    method: 'POST',
    path: '/api/sessions/{id}/cancel',
    handler: async (event: ApiEvent) => {
      const { session } = await found(ports, event, 'write');
      await cancelTurn(ports, session.id, event.requestContext.requestId);
      return json(202, {});
    },
  },
  {
    method: 'POST',
    path: '/api/sessions/{id}/approvals/{callId}',
    handler: async (event: ApiEvent) => {
      const { approved, remember } = bodyOf(event, approval);
      const session = await found(ports, event, 'write');
      const callId = decodeURIComponent(pathValue(event, 'callId'));
      const correlationId = event.requestContext.requestId;
      await decideCall(ports, session, {
        callId,
        approved,
        remember: remember === 'session',
        correlationId,
        limits,
      });
      return json(200, { callId, approved });
    },
  },
];
