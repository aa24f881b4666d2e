/**
 * The reason for which a server on the network gave no answer, worded for a client.
 *
 * Only known codes have a message; the system's own message may name addresses and stays in `cause`.
 */
import { AppError, type AppErrorDetails, isAppError } from '#shared/errors.ts';

/** `reason` has the server as its subject: a caller puts its name before it. */
export const unreachable = (reason: string, details: AppErrorDetails = {}): AppError =>
  new AppError('mcp_server_unavailable', reason, {
    suggestions: ['Check that the server runs and that its address and headers are right.'],
    recoveryActions: ['wait_and_retry'],
    ...details,
  });

/** Codes of errors: https://nodejs.org/api/errors.html and https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const reasons: readonly (readonly [RegExp, string])[] = [
  [/^(ENOTFOUND|EAI_)/, 'its name cannot be resolved'],
  [/^ECONNREFUSED$/, 'it refused the connection'],
  [/^(ECONNRESET|EPIPE)$/, 'it closed the connection'],
  [/^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, 'no connection to it could be made'],
  [/^(EPROTO|ERR_SSL_)/, 'it does not speak TLS'],
  [/^HPE_HEADER_OVERFLOW$/, 'its response headers are too large'],
  [/^HPE_/, 'it does not speak HTTP'],
  [
    /^(CERT_|CRL_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|ERR_TLS_|HOSTNAME_MISMATCH)/,
    'its certificate is not valid',
  ],
];

/** `isConnected`: a request may have reached the server. */
export const explainFailure = (error: unknown, isConnected: boolean): AppError => {
  if (isAppError(error)) return error;
  const code = codeOf(error);
  const reason = reasons.find(([pattern]) => pattern.test(code))?.[1] ?? 'it cannot be reached';
  return unreachable(reason, { cause: error, context: { isConnected } });
};

/** A failure to connect to each of several addresses is an error of errors. */
const codeOf = (error: unknown): string => {
  const [first = error] = error instanceof AggregateError ? error.errors : [error];
  return first instanceof Error && 'code' in first ? String(first.code) : '';
};
