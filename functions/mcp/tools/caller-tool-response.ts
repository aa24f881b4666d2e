/** `caller_tool_response`: answers a call of a tool that this client offered to a session's agent. */

import { findSession } from '#shared/application/access/find-session.ts';
import { answerCall } from '#shared/application/turn/requests/caller-tools.ts';
import { callerResponseArguments, callerResponseResult } from '#shared/contracts/caller-tools.ts';
import { callsPerAnswerMax } from '#shared/domain/limits.ts';
import { defineTool } from '../define-tool.ts';

export const callerToolResponse = defineTool({
  name: 'caller_tool_response',
  description:
    'Answers a caller_tool:request of a session with a result or an error. A call waits 60 seconds and accepts one answer.',
  needs: 'own:write',
  input: callerResponseArguments,
  output: callerResponseResult,
  annotations: {
    title: 'Answer a tool call',
    readOnlyHint: false,
    destructiveHint: false,
    openWorldHint: false,
  },
  run: async ({ session_id: id, request_id: requestId, result, error }, context) => {
    const { ports, principal, intent, settings } = context;
    const found = await findSession(ports.turns, { id, principal, intent });
    const { stepsPerTurnMax: stepsMax, costUsdMax: usdMax } = settings.limits;
    const limits = { stepsMax, usdMax, callsMax: callsPerAnswerMax };
    await answerCall(ports, found, { requestId, result, error, limits });
    return { session_id: found.session.id, request_id: requestId, accepted: true };
  },
});
