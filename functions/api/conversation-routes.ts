/** The conversation of a session: messages in, events out, and answers to calls of tools that the client offers. */
import type { Deps, MessageDeps } from '#shared/application/deps.ts';
import { readEvents } from '#shared/application/events/read-events.ts';
import { readTreeEvents } from '#shared/application/session/read-tree-events.ts';
import { acceptMessage } from '#shared/application/turn/requests/accept-message.ts';
import { answerCall, declareTools, requestsTo } from '#shared/application/turn/requests/caller-tools.ts';
import { cancelTree } from '#shared/application/turn/requests/cancel-turn.ts';
import { checkAttachments } from '#shared/application/turn/requests/check-attachments.ts';
import { retryTurn } from '#shared/application/turn/requests/retry-turn.ts';
import { callerAnswerBody, callerToolsBody, eventsQuery } from '#shared/contracts/rest/bodies.ts';
import {
  acceptedAnswer,
  answeredAnswer,
  cancelledAnswer,
  declaredAnswer,
  eventsAnswer,
  messagesAnswer,
  messageView,
} from '#shared/contracts/rest/conversation-view.ts';
import { userMessage } from '#shared/contracts/socket-actions.ts';
import type { TurnLimits } from '#shared/domain/turn/turn.ts';
import { type ApiRoute, json, pathValue, queryOf } from './api-route.ts';
import { bodyOf } from './request-body.ts';
import { onSession } from './resource-route.ts';
import type { SessionPorts } from './session-routes.ts';

export const conversationRoutes = ({
  ports,
}: {
  readonly ports: SessionPorts & Deps<'savedFiles'>;
}): readonly ApiRoute[] => [
  onSession(ports, {
    method: 'POST',
    path: '/api/sessions/{id}/messages',
    needs: 'own:write',
    contract: {
      summary: 'Queue a message for the agent',
      body: userMessage,
      answers: { 202: acceptedAnswer },
      errors: [
        'invalid_session_state',
        'path_outside_workspace',
        'payload_too_large',
        'too_many_requests',
        'resource_limit_exceeded',
      ],
    },
    handler: async (event, { session }) => {
      const message = bodyOf(event, userMessage);
      const attachments = await checkAttachments(ports, session, message);
      const messageId = await acceptMessage(ports, session, { ...message, attachments });
      return json(202, { messageId, lastSeq: session.lastSeq });
    },
  }),
  onSession(ports, {
    method: 'GET',
    path: '/api/sessions/{id}/messages',
    needs: 'own:read',
    contract: { summary: 'Read the conversation', answers: { 200: messagesAnswer } },
    handler: async (_event, { session }) =>
      json(200, { messages: (await ports.turns.history(session.id)).map(messageView) }),
  }),
  onSession(ports, {
    method: 'GET',
    path: '/api/sessions/{id}/events',
    needs: 'own:read',
    contract: {
      summary: 'Read the log of a session',
      query: eventsQuery,
      answers: { 200: eventsAnswer },
      errors: ['events_purged'],
    },
    handler: async (event, { session }) => {
      const asked = queryOf(event, eventsQuery);
      const page = { since: asked.since_index, eventsMax: asked.max_events };
      return json(
        200,
        asked.include_children
          ? await readTreeEvents(ports, session, page)
          : await readEvents(ports.eventLog, session, page),
      );
    },
  }),
  onSession(ports, {
    method: 'POST',
    path: '/api/sessions/{id}/cancel',
    needs: 'own:write',
    contract: {
      summary: 'Stop the running turn',
      answers: { 202: cancelledAnswer },
      errors: ['invalid_session_state'],
    },
    handler: async (_event, { session }) => {
      return json(202, { cancelled: await cancelTree(ports, session.id) });
    },
  }),
  onSession(ports, {
    method: 'POST',
    path: '/api/sessions/{id}/retry',
    needs: 'own:write',
    contract: {
      summary: 'Repeat the message of the last turn, which failed',
      answers: { 202: acceptedAnswer },
      errors: ['invalid_session_state', 'too_many_requests', 'resource_limit_exceeded'],
    },
    handler: async (_event, found) => {
      const messageId = await retryTurn(ports, found);
      return json(202, { messageId, lastSeq: found.session.lastSeq });
    },
  }),
];

export const callerToolRoutes = ({
  ports,
  limits,
}: {
  readonly ports: MessageDeps & Deps<'callers'>;
  readonly limits: TurnLimits;
}): readonly ApiRoute[] => [
  onSession(ports, {
    method: 'PUT',
    path: '/api/sessions/{id}/caller-tools',
    needs: 'own:write',
    contract: {
      summary: 'Offer tools of the client to the agent, or withdraw them with an empty list',
      body: callerToolsBody,
      answers: { 200: declaredAnswer },
      errors: ['conflict', 'invalid_session_state', 'resource_limit_exceeded'],
    },
    handler: async (event, { session, turn }) => {
      const { callerId, tools, offer: withdrawn } = bodyOf(event, callerToolsBody);
      const offer = withdrawn ?? ports.world.uuid();
      if (withdrawn === undefined) await declareTools(ports, session, { callerId, tools, offer });
      else await ports.callers.withdraw(session.id, callerId, { offer });
      const names = tools.map(({ name }) => `${callerId}_${name}`);
      const requests = requestsTo(turn.state, callerId);
      return json(200, { callerId, offer, tools: names, lastSeq: session.lastSeq, requests });
    },
  }),
  onSession(ports, {
    method: 'POST',
    path: '/api/sessions/{id}/caller-tools/{requestId}',
    needs: 'own:write',
    contract: {
      summary: 'Answer a call of a caller tool',
      body: callerAnswerBody,
      answers: { 200: answeredAnswer },
      errors: ['no_pending_tool_call'],
    },
    handler: async (event, found) => {
      const requestId = pathValue(event, 'requestId');
      const answer = { ...bodyOf(event, callerAnswerBody), requestId, limits };
      await answerCall(ports, found, answer);
      return json(200, { requestId });
    },
  }),
];
