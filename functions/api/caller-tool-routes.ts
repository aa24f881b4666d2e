/** Tools that a client offers to an agent over REST: the offer comes with the session, each answer by itself. */
import type { ApplyWithoutLeasePorts } from '#shared/application/turn/commit/apply-without-lease.ts';
import { answerCall, refuseTaken } from '#shared/application/turn/requests/caller-tools.ts';
import { callerAnswerBody } from '#shared/contracts/rest/bodies.ts';
import { answeredAnswer } from '#shared/contracts/rest/conversation-view.ts';
import type { Caller } from '#shared/domain/caller-tool.ts';
import type { SessionKind } from '#shared/domain/session.ts';
import type { TurnLimits } from '#shared/domain/turn/turn.ts';
import { AppError } from '#shared/errors.ts';
import { bodyOf, decodedPathValue } from './api-request.ts';
import { type ApiRoute, json } from './api-route.ts';
import { onSession } from './resource-route.ts';

export const callerToolRoutes = ({
  ports,
  limits,
}: {
  readonly ports: ApplyWithoutLeasePorts;
  readonly limits: TurnLimits;
}): readonly ApiRoute[] => [
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
      const requestId = decodedPathValue(event, 'requestId');
      const correlationId = event.requestContext.requestId;
      const answer = { ...bodyOf(event, callerAnswerBody), requestId, correlationId, limits };
      await answerCall(ports, found, answer);
      return json(200, { requestId });
    },
  }),
];

/** Checked before a session is created for it. */
export const refuseOffer = (caller: Caller, kind: SessionKind = 'agent'): void => {
  if (kind !== 'agent')
    throw new AppError('invalid_request', 'callerTools: an execution session has no agent');
  refuseTaken(caller);
};
