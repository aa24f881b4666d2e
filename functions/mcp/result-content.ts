/**
 * The result of a tool as its client reads it: the fields and the same as JSON text, or an error.
 *
 * A result with fields depends on the client's revision of the protocol. An error is JSON text for every client.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { cutLongestText, type JsonObject } from '#shared/domain/json.ts';
import { repeatedCharactersMax } from '#shared/domain/limits.ts';
import { type AppError, errorBody, isAppError } from '#shared/errors.ts';
import type { ToolResult } from './define-tool.ts';

/** The parts of a result that a client reads. A header of the revision is sent since the fields exist, but not by every client of today. */
export type Reading = 'fields' | 'text' | 'either';

export const readingOf = (revision: string | null | undefined, isModern: boolean): Reading => {
  if (isModern) return 'fields';
  if (revision == null) return 'either';
  return revision >= firstWithFields ? 'fields' : 'text';
};

/** The first revision with structured results and their schemas. */
const firstWithFields = '2025-06-18';

/**
 * The fields and the same as JSON text. A long result is not sent twice: its text is cut for a client that reads the fields,
 * and one of a revision before them gets the text alone. One that names no revision may read either, and gets both whole.
 */
export const resultOf = (fields: ToolResult, reads: Reading) => {
  const text = JSON.stringify(fields);
  if (text.length <= repeatedCharactersMax || reads === 'either') return { text, structuredContent: fields };
  if (reads === 'text') return { text };
  const cut = cutLongestText(fields as JsonObject, repeatedCharactersMax);
  return { text: JSON.stringify(cut), structuredContent: fields };
};

const requestIdMeta = 'dev.sallyport/requestId';

/**
 * A refused request, or a fault of ours, as the result of a tool: `isError` and the error as JSON text. It has no
 * `structuredContent`: older clients validate that against the schema of a success. A failure that is no AppError shows no
 * details; the id of the request is in `_meta`, for readers of our log.
 */
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
