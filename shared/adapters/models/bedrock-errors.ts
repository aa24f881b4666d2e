/**
 * Bedrock's errors as our codes (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html).
 *
 * They have a name, in an answer and in the middle of a stream alike. Only the text of a ValidationException gives its
 * reason, and only the status that a model gave tells an overload from another failure of it.
 */
import { BedrockRuntimeServiceException } from '@aws-sdk/client-bedrock-runtime';
import type { AppError } from '#shared/errors.ts';
import { type Meaning, meanings, noSuchModel, providerError } from './provider-errors.ts';
import type { WireErrors } from './stream-answer.ts';

const { refusedKey, rateLimited, overloaded, unavailable, unreachable, tooLong } = meanings;

const refusedRole: Meaning = ['provider_auth_failed', 'AWS does not let this deployment use this model'];

const byName: Readonly<Record<string, Meaning>> = {
  AccessDeniedException: refusedRole,
  UnrecognizedClientException: refusedKey,
  InvalidSignatureException: refusedKey,
  ExpiredTokenException: refusedKey,
  CredentialsProviderError: meanings.noCredentials,
  ThrottlingException: rateLimited,
  ServiceQuotaExceededException: rateLimited,
  ServiceUnavailableException: overloaded,
  ModelNotReadyException: overloaded,
  ModelTimeoutException: unavailable,
  ModelErrorException: unavailable,
  ModelStreamErrorException: unavailable,
  InternalServerException: unavailable,
};

/** Only the text of a ValidationException gives its reason. */
const byText: readonly (readonly [RegExp, Meaning])[] = [
  [/too long|too many (input )?tokens|exceed.{0,40}context|context.{0,20}exceed/i, tooLong],
  [/guardrail|content filter/i, meanings.refusedContent],
];

const translateError = (cause: unknown, model: string): AppError => {
  const { name, status, requestId } = detailsOf(cause);
  const retryAfter = headerOf(cause, 'retry-after');
  return providerError(meaningOf(cause, model), { cause, status, type: name, requestId, retryAfter });
};

/** An exception in the middle of a stream has no metadata. */
const detailsOf = (cause: unknown) => {
  const metadata: Partial<BedrockRuntimeServiceException['$metadata']> | undefined =
    cause instanceof BedrockRuntimeServiceException ? cause.$metadata : undefined;
  return {
    name: cause instanceof Error ? cause.name : undefined,
    status: metadata?.httpStatusCode,
    requestId: metadata?.requestId,
  };
};

const meaningOf = (cause: unknown, model: string): Meaning => {
  const { name = '', status } = detailsOf(cause);
  if (originalStatus(cause) === 529) return overloaded;
  const known = byName[name];
  if (known !== undefined) return known;
  if (!(cause instanceof BedrockRuntimeServiceException)) return unreachable;
  const { message } = cause;
  if (name === 'ResourceNotFoundException' || /model identifier/i.test(message)) return noSuchModel(model);
  const told = byText.find(([pattern]) => pattern.test(message));
  if (told !== undefined) return told[1];
  return status !== undefined && status >= 500 ? unavailable : meanings.notUnderstood;
};

/** The status that the model itself answered with. */
const originalStatus = (cause: unknown): unknown =>
  cause instanceof Error ? Reflect.get(cause, 'originalStatusCode') : undefined;

const headerOf = (cause: unknown, header: string): string | undefined =>
  cause instanceof BedrockRuntimeServiceException ? cause.$response?.headers?.[header] : undefined;

/** A connection that failed is retried; one that was silent for too long is not, nor one without credentials. */
const isPassing = (error: unknown): boolean => {
  const { name = '', status } = detailsOf(error);
  if (error instanceof BedrockRuntimeServiceException)
    return status !== undefined && status >= 500 && headerOf(error, 'retry-after') === undefined;
  return error instanceof Error && !['AbortError', 'TimeoutError', 'CredentialsProviderError'].includes(name);
};

const isRefused = (error: unknown, pattern: RegExp): boolean =>
  isRefusedRequest(error) && error instanceof Error && pattern.test(error.message);

const isRefusedRequest = (error: unknown): boolean => detailsOf(error).name === 'ValidationException';

const isRefusedThinking = (error: unknown): boolean =>
  isRefused(
    error,
    /adaptive|budget_tokens|output_config|effort|display|support.{0,20}thinking|expected \W?thinking|additional ?model/i,
  );

const isRefusedState = (error: unknown): boolean => isRefused(error, /thinking|signature|reasoning/i);

export const errors: WireErrors = {
  ...{ isPassing, isRefusedThinking, isRefusedState, isRefusedRequest },
  translate: translateError,
};
