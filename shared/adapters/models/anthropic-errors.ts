/**
 * What went wrong with Anthropic, in our codes (https://platform.claude.com/docs/en/api/errors).
 *
 * The messages are ours: what the provider wrote may quote the conversation and stays in `cause`, for the
 * log. An error inside a stream that began well has a type and no status, so the type counts first.
 */
import { APIError } from '@anthropic-ai/sdk';
import { AppError, type ErrorCode } from '#shared/errors.ts';

type Meaning = readonly [code: ErrorCode, message: string];

const refusedKey: Meaning = ['provider_auth_failed', 'the model provider refused the key'];
const rateLimited: Meaning = ['provider_rate_limited', 'the model provider limits the rate of requests'];
const overloaded: Meaning = ['provider_overloaded', 'the model provider is overloaded'];
const unavailable: Meaning = ['provider_unavailable', 'the model provider failed to answer'];
const unreachable: Meaning = ['provider_unavailable', 'the connection to the model provider failed'];
const unpaid: Meaning = ['provider_auth_failed', 'the account of this key has no credit left'];
const tooLong: Meaning = ['context_too_long', 'the conversation is longer than the model can take'];
const refusedContent: Meaning = ['content_refused', 'the model provider refuses this content'];

const byType: Readonly<Record<string, Meaning>> = {
  authentication_error: refusedKey,
  permission_error: refusedKey,
  billing_error: unpaid,
  rate_limit_error: rateLimited,
  overloaded_error: overloaded,
  timeout_error: unavailable,
  api_error: unavailable,
  request_too_large: tooLong,
};

const byStatus: Readonly<Record<number, Meaning>> = {
  401: refusedKey,
  402: unpaid,
  403: refusedKey,
  408: unavailable,
  409: unavailable,
  413: tooLong,
  429: rateLimited,
  529: overloaded,
};

/** A 400 says what it is about only in its text. */
const byText: readonly (readonly [RegExp, Meaning])[] = [
  [/prompt is too long|exceed.{0,40}context (limit|window)/i, tooLong],
  [/credit balance/i, unpaid],
  [/content filter/i, refusedContent],
];

export const translateError = (cause: unknown, model: string): AppError => {
  const [code, message] = meaningOf(cause, model);
  const { status, type, requestID, headers } = cause instanceof APIError ? cause : noDetails;
  const retryAfter = headers?.get('retry-after') ?? undefined;
  return new AppError(code, message, {
    cause,
    context: { status, type, requestId: requestID, retryAfter },
    // The header may be a date, too (RFC 9110, 10.2.3).
    suggestions: /^\d+$/.test(retryAfter ?? '') ? [`Try again in ${retryAfter} seconds.`] : [],
  });
};

const noDetails = { status: undefined, type: undefined, requestID: undefined, headers: undefined };

const meaningOf = (cause: unknown, model: string): Meaning => {
  if (!(cause instanceof APIError)) return unreachable;
  const { status, type, errorCode, message } = cause;
  if (type === 'not_found_error' || status === 404)
    return ['invalid_request', `the model provider has no model "${model}"`];
  if (/spend_limit|billing/.test(errorCode ?? '')) return unpaid;
  const known = byType[type ?? ''] ?? byStatus[status ?? 0];
  if (known !== undefined) return known;
  if (status === undefined && type === null) return unreachable;
  if (status !== undefined && status >= 500) return unavailable;
  const told = byText.find(([pattern]) => pattern.test(message))?.[1];
  // What is left is a request that we composed wrongly: our fault, not the client's.
  return told ?? ['internal_error', 'the model provider did not understand our request'];
};
