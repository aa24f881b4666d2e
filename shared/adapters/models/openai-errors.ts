/**
 * OpenAI's errors as our codes (https://developers.openai.com/api/docs/guides/error-codes).
 *
 * The `code` of an error is more precise than its status: 429 is too fast or unpaid. An error inside a stream
 * that began well has a code only.
 */
import { APIConnectionError, APIConnectionTimeoutError, APIError } from 'openai';
import type { AppError } from '#shared/errors.ts';
import { type Meaning, meanings, noSuchModel, providerError } from './provider-errors.ts';
import type { WireErrors } from './stream-answer.ts';

const { refusedKey, unpaid, rateLimited, overloaded, unavailable, unreachable, tooLong, refusedContent } =
  meanings;

const byCode: Readonly<Record<string, Meaning>> = {
  invalid_api_key: refusedKey,
  insufficient_quota: unpaid,
  billing_hard_limit_reached: unpaid,
  billing_not_active: unpaid,
  rate_limit_exceeded: rateLimited,
  slow_down: overloaded,
  server_is_overloaded: overloaded,
  server_error: unavailable,
  vector_store_timeout: unavailable,
  context_length_exceeded: tooLong,
  string_above_max_length: tooLong,
  // The prompt was flagged; a merely malformed one has other codes.
  invalid_prompt: refusedContent,
  content_filter: refusedContent,
  content_policy_violation: refusedContent,
  bio_policy: refusedContent,
  cyber_policy: refusedContent,
  misalignment_policy_violation: refusedContent,
};

const byStatus: Readonly<Record<number, Meaning>> = {
  401: refusedKey,
  402: unpaid,
  403: refusedKey,
  408: unavailable,
  409: unavailable,
  413: tooLong,
  429: rateLimited,
  503: overloaded,
  529: overloaded,
};

export const translateError = (cause: unknown, model: string): AppError => {
  const { status, code, requestID, headers } = cause instanceof APIError ? cause : noDetails;
  const retryAfter = headers?.get('retry-after') ?? undefined;
  return providerError(meaningOf(cause, model), {
    cause,
    status,
    type: code,
    requestId: requestID,
    retryAfter,
  });
};

/** The failure that a failed answer, or an event of its stream, reports. */
export const translateFailure = (
  failure: { readonly code?: string | null; readonly message?: string } | null,
): AppError =>
  providerError(byCode[failure?.code ?? ''] ?? unavailable, {
    cause: new Error(failure?.message ?? 'the answer failed without a reason'),
    type: failure?.code,
  });

const noDetails = { status: undefined, code: undefined, requestID: undefined, headers: undefined };

const meaningOf = (cause: unknown, model: string): Meaning => {
  if (!(cause instanceof APIError)) return unreachable;
  const { status, code, type, message } = cause;
  if (isNotFound(cause)) return noSuchModel(model);
  // Gateways pass on what Anthropic says, in the middle of a stream with the status as code.
  if (type === 'overloaded_error') return overloaded;
  const known = byCode[code ?? ''] ?? byStatus[status ?? Number(code)];
  if (known !== undefined) return known;
  if (cause instanceof APIConnectionError) return unreachable;
  if ((status ?? 0) >= 500) return unavailable;
  if (tooLongTexts.test(message)) return tooLong;
  return status === undefined ? unavailable : meanings.notUnderstood;
};

/** Of OpenAI, vLLM, llama.cpp, and of Google and Anthropic behind gateways. */
const tooLongTexts =
  /context (length|window|size)|too many tokens|maximum number of tokens|(prompt|input) is too long/i;

export const isNotFound = (error: unknown): boolean =>
  error instanceof APIError && (error.status === 404 || error.code === 'model_not_found');

const isPassing = (error: unknown): boolean => {
  if (error instanceof APIConnectionTimeoutError) return false;
  if (error instanceof APIConnectionError) return true;
  const { status, headers } = error instanceof APIError ? error : noDetails;
  return status !== undefined && status >= 500 && headers?.get('retry-after') == null;
};

/**
 * "Unsupported value: 'reasoning.effort' …", "Your organization must be verified to generate reasoning summaries", "Encrypted
 * content is not supported with this model", and the like; on the chat wire, "… does not support thinking".
 */
const isRefusedThinking = (error: unknown): boolean =>
  error instanceof APIError &&
  error.status === 400 &&
  (/^(reasoning|include)/.test(error.param ?? '') ||
    /reasoning[._ ](effort|summar)|support.{0,10} thinking/i.test(error.message));

/** "Item 'rs_…' of type 'reasoning' was provided without its required following item", and the like. */
const isRefusedState = (error: unknown): boolean =>
  error instanceof APIError && error.status === 400 && /reasoning|encrypted/i.test(error.message);

/** A server that serves no images says so with the status that its maker found fit: "image input is not supported" is a 404 or a 500. */
const isRefusedRequest = (error: unknown): boolean =>
  error instanceof APIError &&
  (error.status === 400 ||
    error.status === 422 ||
    (error.status !== undefined && /\bimages? (input|is|are)\b/i.test(error.message)));

export const errors: WireErrors = {
  ...{ isPassing, isRefusedThinking, isRefusedState, isRefusedRequest },
  translate: translateError,
};
