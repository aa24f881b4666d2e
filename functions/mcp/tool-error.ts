/**
 * A refused request, or a fault of ours, as the result of a tool: `isError` and the error as JSON text.
 *
 * It has no `structuredContent`: older clients validate that against the schema of a success. A failure that is
 * no AppError shows no details; the id of the request is in `_meta`, for readers of our log.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { type AppError, errorBody, isAppError } from '#shared/errors.ts';

const requestIdMeta = 'dev.sallyport/requestId';

export const toErrorResult = (cause: unknown, requestId: string): CallToolResult => {
  const { code, message, suggestions, recoveryActions } = errorBody(cause, requestId).error;
  const error = {
    type: code,
    message,
    suggestions,
    recovery_actions: recoveryActions,
    ...(isAppError(cause) ? sessionOf(cause) : {}),
  };
  return {
    isError: true,
    content: [{ type: 'text', text: JSON.stringify({ error }) }],
    _meta: { [requestIdMeta]: requestId },
  };
};

/** A caller whose failed call created a session learns its id only here. */
const sessionOf = ({ details: { facts } }: AppError) =>
  facts?.['sessionId'] === undefined ? {} : { session_id: facts['sessionId'] };
