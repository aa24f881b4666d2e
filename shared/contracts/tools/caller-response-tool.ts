/** The arguments and result of the tool `caller_tool_response`. */
import * as z from 'zod';
import { callerResult } from '../caller-tools.ts';
import { closed, sessionId, text } from './tool-fields.ts';

const errorCharactersMax = 10_000;

export const callerResponseArguments = closed({
  session_id: sessionId,
  request_id: text(128).describe('The requestId of the request.'),
  result: callerResult.optional().describe('What the tool gave: a text, MCP content, or any JSON.'),
  error: text(errorCharactersMax).optional().describe('Why it failed; stands above a result.'),
});

export const callerResponseResult = z.object({
  session_id: z.string().describe('The session.'),
  request_id: z.string().describe('The request that was answered.'),
  accepted: z.boolean().describe('It was the first answer, and in time.'),
});
