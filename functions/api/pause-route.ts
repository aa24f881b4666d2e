/** `/sessions/{id}/pause`: saves and stops the sandbox of a session at its client's request. */

import type { Deps, StopDeps } from '#shared/application/deps.ts';
import { pauseSandbox } from '#shared/application/sandbox/pause-sandbox.ts';
import { sessionAnswer } from '#shared/contracts/rest/session-view.ts';
import type { Session } from '#shared/domain/session.ts';
import type { TurnRecord } from '#shared/domain/turn/turn.ts';
import type { ApiRoute } from './api-route.ts';
import { answerWhenDone } from './keep-alive-response.ts';
import { onSession } from './resource-route.ts';

export const pauseRoute = (
  ports: StopDeps & Deps<'turns'>,
  show: (session: Session, turn?: TurnRecord) => Promise<unknown>,
): ApiRoute =>
  onSession(ports, {
    method: 'POST',
    path: '/api/sessions/{id}/pause',
    needs: 'own:write',
    contract: {
      summary:
        'Save and stop the sandbox of a session now; its processes end, and its next call starts it again',
      answers: { 200: sessionAnswer },
      errors: [
        'conflict',
        'invalid_session_state',
        'resource_limit_exceeded',
        'sandbox_unavailable',
        'workspace_not_found',
      ],
    },
    handler: async (event, { session, turn }) => {
      const { requestId } = event.requestContext;
      const work = async (): Promise<unknown> => {
        await pauseSandbox(ports, session);
        return show((await ports.sessions.get(session.id)) ?? session, turn);
      };
      return answerWhenDone(work, { requestId, telemetry: ports.telemetry });
    },
  });
