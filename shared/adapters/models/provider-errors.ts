/**
 * Failures of a model provider, as our codes and messages.
 *
 * The provider's text may quote the conversation or the key: it stays in `cause`, for the log.
 */
import { AppError, type ErrorCode } from '#shared/errors.ts';

export type Meaning = readonly [code: ErrorCode, message: string];

export const meanings = {
  refusedKey: ['provider_auth_failed', 'the model provider rejected the API key'],
  unpaid: ['provider_auth_failed', 'the account of this key has no credit left'],
  noCredentials: ['provider_auth_failed', 'there are no AWS credentials to sign model requests with'],
  rateLimited: ['provider_rate_limited', 'the model provider is limiting the rate of requests'],
  overloaded: ['provider_overloaded', 'the model provider is overloaded'],
  unavailable: ['provider_unavailable', 'the model provider failed to answer'],
  unreachable: ['provider_unavailable', 'the connection to the model provider failed'],
  brokenOff: ['provider_unavailable', 'the answer of the model was interrupted'],
  garbled: ['provider_unavailable', 'the model wrote an answer that cannot be read'],
  tooLong: ['context_too_long', 'the conversation is longer than the model accepts'],
  refusedContent: ['content_refused', 'the model provider refused this content'],
  // A request that we composed wrongly: our fault, not the client's.
  notUnderstood: ['internal_error', 'the model provider did not understand our request'],
} as const satisfies Record<string, Meaning>;

export const noSuchModel = (model: string): Meaning => [
  'invalid_request',
  `the model provider has no model "${model}"`,
];

export type ProviderTrouble = {
  readonly cause?: unknown;
  readonly status?: number | undefined;
  readonly type?: string | null | undefined;
  readonly requestId?: string | null | undefined;
  /** Seconds, or a date (RFC 9110, 10.2.3). */
  readonly retryAfter?: string | undefined;
};

export const providerError = (
  [code, message]: Meaning,
  { cause, ...context }: ProviderTrouble = {},
): AppError =>
  new AppError(code, message, {
    cause,
    context,
    suggestions: /^\d+$/.test(context.retryAfter ?? '')
      ? [`Try again in ${context.retryAfter} seconds.`]
      : [],
  });
