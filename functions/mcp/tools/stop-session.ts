/** `stop_session`: ends a session; when it answers, the session's slot is free. */

import { findSession } from '#shared/application/access/find-session.ts';
import { endSession } from '#shared/application/turn/requests/end-session.ts';
import { stopSessionArguments, stopSessionResult } from '#shared/contracts/tools/mcp-tools.ts';
import { defineTool } from '../define-tool.ts';

export const stopSession = defineTool({
  name: 'stop_session',
  description: 'Stops a session, its sandbox and every program in it, and frees its slot.',
  needs: 'own:write',
  input: stopSessionArguments,
  output: stopSessionResult,
  annotations: {
    title: 'Stop a session',
    destructiveHint: true,
    idempotentHint: true,
    openWorldHint: false,
  },
  run: async ({ session_id: id }, { ports, principal, correlationId, intent }) => {
    const { session } = await findSession(ports.sessions, { id, principal, intent });
    const isStopped = await endSession(ports, session, { reason: 'stopped by its client', correlationId });
    const message = isStopped ? 'the session is stopped' : 'the session was stopped before';
    return { session_id: session.id, success: true, message };
  },
});
