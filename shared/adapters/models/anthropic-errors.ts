/**
 * Anthropic's errors as our codes (https://platform.claude.com/docs/en/api/errors).
 *
 * An error inside a stream that began well has a type and no status, so the type counts first.
 */
import { APIConnectionError, APIConnectionTimeoutError, APIError } from '@anthropic-ai/sdk';
import type { AppError } from '#shared/errors.ts';
import { type Meaning, meanings, noSuchModel, providerError } from './provider-errors.ts';
import type { WireErrors } from './stream-answer.ts';

const { refusedKey, unpaid, rateLimited, overloaded, unavailable, unreachable, tooLong } = meanings;

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

/** Only the text of a 400 gives its reason. */
const byText: readonly (readonly [RegExp, Meaning])[] = [
  [/prompt is too long|exceed.{0,40}context (limit|window)/i, tooLong],
  [/credit balance/i, unpaid],
  [/content filter/i, meanings.refusedContent],
];

export const translateError = (cause: unknown, model: string): AppError => {
  const { status, type, requestID, headers } = cause instanceof APIError ? cause : noDetails;
  const retryAfter = headers?.get('retry-after') ?? undefined;
  return providerError(meaningOf(cause, model), { cause, status, type, requestId: requestID, retryAfter });
};

const noDetails = { status: undefined, type: undefined, requestID: undefined, headers: undefined };

const meaningOf = (cause: unknown, model: string): Meaning => {
  if (lacksCredentials(cause)) return meanings.noCredentials;
  if (!(cause instanceof APIError)) return unreachable;
  const { status, type, errorCode, message } = cause;
  if (isNotFound(cause)) return noSuchModel(model);
  if (/spend_limit|billing/.test(errorCode ?? '')) return unpaid;
  const known = byType[type ?? ''] ?? byStatus[status ?? 0];
  if (known !== undefined) return known;
  if (status === undefined && type === null) return unreachable;
  if (status !== undefined && status >= 500) return unavailable;
  return byText.find(([pattern]) => pattern.test(message))?.[1] ?? meanings.notUnderstood;
};

/** The AWS client's error when nothing in its chain has credentials. */
const lacksCredentials = (error: unknown): boolean =>
  error instanceof APIConnectionError &&
  error.cause instanceof Error &&
  error.cause.name === 'CredentialsProviderError';

export const isNotFound = (error: unknown): boolean =>
  error instanceof APIError && (error.type === 'not_found_error' || error.status === 404);

const isPassing = (error: unknown): boolean => {
  if (error instanceof APIConnectionTimeoutError || lacksCredentials(error)) return false;
  if (error instanceof APIConnectionError) return true;
  const { status, headers } = error instanceof APIError ? error : noDetails;
  return status !== undefined && status >= 500 && headers?.get('retry-after') == null;
};

/**
 * "`thinking.type: enabled` is not supported for this model", "adaptive thinking is not supported", "This model does not
 * support the effort parameter", "Expected `thinking` … When `thinking` is enabled, …", and the like.
 */
const isRefusedThinking = (error: unknown): boolean =>
  error instanceof APIError && error.status === 400 && thinkingRefused.test(error.message);

const thinkingRefused =
  /adaptive|budget_tokens|output_config|effort|thinking\W{0,2}\.|display|support.{0,20}thinking|thinking\W{0,2} (is|mode)|expected \W?thinking/i;

/** "Invalid `signature` in `thinking` block. The block is bound to a different conversation", and the like. */
const isRefusedState = (error: unknown): boolean =>
  error instanceof APIError && error.status === 400 && /thinking|signature/i.test(error.message);

const isRefusedRequest = (error: unknown): boolean => error instanceof APIError && error.status === 400;

export const errors: WireErrors = {
  ...{ isPassing, isRefusedThinking, isRefusedState, isRefusedRequest },
  translate: translateError,
};
