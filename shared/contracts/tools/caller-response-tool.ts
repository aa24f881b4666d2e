/** The arguments and result of the tool `caller_tool_response`. */
import * as z from 'zod';
import { callerResult } from '../caller-tools.ts';
import { closed, sessionId, text } from './tool-fields.ts';

const errorCharactersMax = 10_000;

export const callerResponseArguments = closed({
  session_id: sessionId,
  request_id: text(128).describe('`requestId` of the event caller_tool:request.'),
  result: callerResult.optional().describe('Result of the tool: a text, MCP content, or any JSON.'),
  error: text(errorCharactersMax)
    .optional()
    .describe('Error message of the tool; takes precedence over a result.'),
});

export const callerResponseResult = z.object({
  session_id: z.string().describe('Id of the session.'),
  request_id: z.string().describe('Id of the request that was answered.'),
  accepted: z.boolean().describe('True: the answer was the first one, and in time.'),
});
