/**
 * Gemini's errors as our codes (https://ai.google.dev/gemini-api/docs/troubleshooting).
 *
 * The SDK's error has a status and, as its message, the body: an invalid key is a 400 whose details name it, and
 * the time to wait is a detail, too.
 */
import { ApiError } from '@google/genai';
import type { AppError } from '#shared/errors.ts';
import { parsedObject } from './call-arguments.ts';
import { type Meaning, meanings, noSuchModel, providerError } from './provider-errors.ts';
import type { WireErrors } from './stream-answer.ts';

const { refusedKey, unpaid, rateLimited, overloaded, unavailable, unreachable, tooLong } = meanings;

type Body = {
  readonly status?: string;
  readonly message?: string;
  readonly details?: readonly { readonly reason?: string; readonly retryDelay?: string }[];
};

const byStatus: Readonly<Record<number, Meaning>> = {
  401: refusedKey,
  402: unpaid,
  403: refusedKey,
  408: unavailable,
  413: tooLong,
  429: rateLimited,
  503: overloaded,
  529: overloaded,
};

export const translateError = (cause: unknown, model: string): AppError => {
  if (!(cause instanceof ApiError)) return providerError(unreachable, { cause });
  const body = bodyOf(cause);
  return providerError(meaningOf(cause, body, model), {
    cause,
    status: cause.status,
    type: body.status,
    retryAfter: waitOf(body),
  });
};

const meaningOf = (error: ApiError, { status, message = '', details = [] }: Body, model: string): Meaning => {
  if (isNotFound(error)) return noSuchModel(model);
  if (details.some(({ reason }) => reason?.startsWith('API_KEY_'))) return refusedKey;
  const known = byStatus[error.status];
  if (known !== undefined) return known;
  if (error.status >= 500) return unavailable;
  if (/token count.{0,40}exceeds|exceeds the maximum number of tokens/i.test(message)) return tooLong;
  if (status === 'FAILED_PRECONDITION' && /billing/i.test(message)) return unpaid;
  return /api key/i.test(message) ? refusedKey : meanings.notUnderstood;
};

/** In a stream, the SDK puts its own text before the body. */
const bodyOf = ({ message }: ApiError): Body => {
  const body = parsedObject(message.slice(Math.max(0, message.indexOf('{'))));
  return (body?.['error'] ?? {}) as Body;
};

/** `retryDelay` is a duration such as `17.4s`. */
const waitOf = ({ details = [] }: Body): string | undefined => {
  const delay = details.find(({ retryDelay }) => retryDelay !== undefined)?.retryDelay;
  const seconds = Math.ceil(Number.parseFloat(delay ?? ''));
  return Number.isNaN(seconds) ? undefined : String(seconds);
};

export const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

/** A connection that failed is retried; one that was silent for too long is not. */
const isPassing = (error: unknown): boolean => {
  if (error instanceof ApiError) return error.status >= 500 && waitOf(bodyOf(error)) === undefined;
  return error instanceof Error && error.name !== 'AbortError' && error.name !== 'TimeoutError';
};

/** "Thinking level is not supported for this model", "Budget 0 is invalid. This model only works in thinking mode." */
const isRefusedThinking = (error: unknown): boolean =>
  error instanceof ApiError &&
  error.status === 400 &&
  /thinking|include.?thoughts|budget/i.test(error.message) &&
  !isRefusedState(error);

const isRefusedState = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 400 && /thought.{0,3}signature/i.test(error.message);

const isRefusedRequest = (error: unknown): boolean => error instanceof ApiError && error.status === 400;

export const errors: WireErrors = {
  ...{ isPassing, isRefusedThinking, isRefusedState, isRefusedRequest },
  translate: translateError,
};
