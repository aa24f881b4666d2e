/** `/sessions/cleanup`: removes sessions that ended long enough ago, as the tool `session` does. */
import { cleanUpSessions } from '#shared/application/session/clean-up-sessions.ts';
import type { ForgetSessionPorts } from '#shared/application/session/forget-session.ts';
import type { ListPorts } from '#shared/application/session/list-sessions.ts';
import { cleanupBody } from '#shared/contracts/rest/bodies.ts';
import { cleanedAnswer } from '#shared/contracts/rest/session-view.ts';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import type { Forgetter } from '#shared/ports/invoker.ts';
import { bodyOf, principalOf } from './api-request.ts';
import { type ApiRoute, json } from './api-route.ts';

export type CleanupPorts = ListPorts &
  Omit<ForgetSessionPorts, 'forgetFiles'> & { readonly forgetter: Forgetter };

const hourMs = 3_600_000;

export const cleanupRoute = (ports: CleanupPorts): ApiRoute => ({
  method: 'POST',
  path: '/api/sessions/cleanup',
  needs: 'own:write',
  contract: {
    summary: 'Delete sessions that ended long ago',
    body: cleanupBody,
    answers: { 200: cleanedAnswer },
    errors: ['project_not_found'],
  },
  handler: async (event) => {
    const { project, maxAgeHours } = bodyOf(event, cleanupBody);
    const correlationId = event.requestContext.requestId;
    const forgetFiles = (workspace: WorkspaceId) => ports.forgetter.forgetWorkspace(workspace, correlationId);
    const options = { principal: principalOf(event), project, ageMsMin: maxAgeHours * hourMs, correlationId };
    return json(200, await cleanUpSessions({ ...ports, forgetFiles }, options));
  },
});
