/**
 * The meaning of a failed exchange with a server on the network for a tool call, and its message.
 *
 * `failed` is a call that surely did not run, or one that was answered; all else is `lost`, since it may have
 * run. A client receives the server's name and the reason, never an address that was resolved or a stack.
 */
import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, SseError } from '@modelcontextprotocol/client';
import { cutMiddle } from '#shared/domain/text.ts';
import { type AppError, isAppError } from '#shared/errors.ts';
import type { RemoteOutcome } from '#shared/ports/mcp-servers.ts';
import { unreachable } from '../outbound/unreachable.ts';
import { lostCode, lostMessage } from './watched-transport.ts';

export type Circumstances = {
  readonly name: string;
  /** The failure below MCP. */
  readonly fault: AppError | undefined;
  readonly isCallSent: boolean;
  readonly isCancelled: boolean;
};

const wordsCharactersMax = 500;

export const toListError = (error: unknown, { name, fault }: Circumstances): AppError => {
  const cause = isAppError(error) ? error : (fault ?? error);
  if (isAppError(cause) && cause.code === 'invalid_request') return cause;
  return unreachable(unavailable(name, reasonOf(error, fault)), { cause, facts: { ...httpStatusOf(error) } });
};

export const toOutcomeOf = (error: unknown, circumstances: Circumstances): RemoteOutcome => {
  const { name, fault, isCallSent, isCancelled } = circumstances;
  const reason = isCancelled ? 'the call was cancelled' : reasonOf(error, fault);
  if (!isCallSent || isTurnedAway(error, fault))
    return {
      status: 'failed',
      code: 'mcp_server_unavailable',
      message: unavailable(name, reason),
      ...httpStatusOf(error),
    };
  const message = `MCP server '${name}': ${reason}`;
  if (isCancelled) return { status: 'lost', message };
  if (fault?.code === 'resource_limit_exceeded') return { status: 'failed', code: fault.code, message };
  if (isAnswer(error)) return { status: 'failed', code: 'tool_failed', message };
  return { status: 'lost', message, ...httpStatusOf(error) };
};

const unavailable = (name: string, reason: string): string =>
  `MCP server '${name}' is not available: ${reason}`;

/** True when the call surely did not run. */
const isTurnedAway = (error: unknown, fault: AppError | undefined): boolean =>
  (SdkHttpError.isInstance(error) && (error.status ?? 0) >= 400 && (error.status ?? 0) < 500) ||
  fault?.code === 'invalid_request' ||
  fault?.details.context?.['isConnected'] === false;

const answerCodes: readonly string[] = [SdkErrorCode.InvalidResult, SdkErrorCode.UnsupportedResultType];

const isAnswer = (error: unknown): boolean =>
  (ProtocolError.isInstance(error) && !isLost(error)) ||
  (SdkError.isInstance(error) && answerCodes.includes(error.code));

const isLost = (error: ProtocolError): boolean =>
  error.code === lostCode && error.message.includes(lostMessage);

const httpStatusOf = (error: unknown): { readonly httpStatus?: number } => {
  const status = SdkHttpError.isInstance(error)
    ? error.status
    : error instanceof SseError
      ? error.code
      : undefined;
  return status === undefined ? {} : { httpStatus: status };
};

const reasonOf = (error: unknown, fault: AppError | undefined): string => {
  if (isAppError(error)) return error.message;
  if (SdkHttpError.isInstance(error)) return `it answered with HTTP ${error.status}`;
  if (error instanceof SseError && error.code !== undefined) return `it answered with HTTP ${error.code}`;
  if (SdkError.isInstance(error) && error.code === SdkErrorCode.RequestTimeout)
    return 'it did not answer in time';
  if (fault !== undefined) return fault.message;
  if (!ProtocolError.isInstance(error)) return 'it does not answer as an MCP server does';
  return isLost(error) ? lostMessage : `it answered: ${cutMiddle(error.message, wordsCharactersMax)}`;
};
