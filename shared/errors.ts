/**
 * The error table: every code a client can get, with its HTTP status and whether a retry can help.
 *
 * One table, one class. A code that is missing here does not compile; the literals are frozen by
 * errors.pin.test.ts and explained one by one in docs/runbook.md. `cause` and `context` never cross the wire.
 */
export type ErrorRule = { readonly status: number; readonly retry: 'never' | 'later' };

export const errorRules = {
  invalid_request: { status: 400, retry: 'never' },
  invalid_flavor: { status: 400, retry: 'never' },
  unsupported_language: { status: 400, retry: 'never' },
  path_outside_workspace: { status: 400, retry: 'never' },
  provider_not_configured: { status: 400, retry: 'never' },
  unauthenticated: { status: 401, retry: 'never' },
  forbidden: { status: 403, retry: 'never' },
  not_found: { status: 404, retry: 'never' },
  session_not_found: { status: 404, retry: 'never' },
  project_not_found: { status: 404, retry: 'never' },
  workspace_not_found: { status: 404, retry: 'never' },
  schedule_not_found: { status: 404, retry: 'never' },
  webhook_not_found: { status: 404, retry: 'never' },
  token_not_found: { status: 404, retry: 'never' },
  mcp_server_not_found: { status: 404, retry: 'never' },
  file_not_found: { status: 404, retry: 'never' },
  invalid_session_state: { status: 409, retry: 'never' },
  conflict: { status: 409, retry: 'never' },
  no_pending_tool_call: { status: 409, retry: 'never' },
  events_purged: { status: 410, retry: 'never' },
  payload_too_large: { status: 413, retry: 'never' },
  context_too_long: { status: 422, retry: 'never' },
  content_refused: { status: 422, retry: 'never' },
  resource_limit_exceeded: { status: 429, retry: 'later' },
  rate_limited: { status: 429, retry: 'later' },
  too_many_requests: { status: 429, retry: 'later' },
  internal_error: { status: 500, retry: 'later' },
  provider_auth_failed: { status: 502, retry: 'never' },
  sandbox_start_failed: { status: 502, retry: 'later' },
  sandbox_starting: { status: 503, retry: 'later' },
  sandbox_unavailable: { status: 503, retry: 'later' },
  provider_rate_limited: { status: 503, retry: 'later' },
  provider_overloaded: { status: 503, retry: 'later' },
  provider_unavailable: { status: 503, retry: 'later' },
  mcp_server_unavailable: { status: 503, retry: 'later' },
  issuer_unavailable: { status: 503, retry: 'later' },
  execution_timeout: { status: 504, retry: 'never' },
  tool_outcome_unknown: { status: 500, retry: 'never' },
} as const satisfies Record<string, ErrorRule>;

export type ErrorCode = keyof typeof errorRules;

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorRules, code);

export type AppErrorDetails = {
  readonly cause?: unknown;
  /** For the log only. */
  readonly context?: Readonly<Record<string, unknown>>;
  readonly suggestions?: readonly string[];
  readonly recoveryActions?: readonly string[];
  /** Further facts for the client, such as `oldestIndex`, or the `sessionId` that a failed call has made. */
  readonly facts?: Readonly<Record<string, number | string>>;
};

/** An external failure, or a refused request: `message` is fit for a client. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly details: AppErrorDetails;

  constructor(code: ErrorCode, message: string, details: AppErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.details = details;
  }
}

/** By name and code, not `instanceof`: two bundles of one program hold two copies of the class. */
export const isAppError = (error: unknown): error is AppError =>
  error instanceof Error && error.name === 'AppError' && 'code' in error && isErrorCode(String(error.code));

/** The wire body of protocol.md; anything that is no AppError becomes `internal_error` without its text. */
export const errorBody = (error: unknown, requestId: string) => {
  const known = isAppError(error) ? error : undefined;
  return {
    error: {
      code: known?.code ?? ('internal_error' satisfies ErrorCode),
      message: known?.message ?? 'something went wrong on our side',
      suggestions: known ? (known.details.suggestions ?? []) : ['Try again in a moment.'],
      recoveryActions: known ? (known.details.recoveryActions ?? []) : ['wait_and_retry'],
      requestId,
      ...known?.details.facts,
    },
  };
};

export const errorStatus = (error: unknown): number =>
  isAppError(error) ? errorRules[error.code].status : errorRules.internal_error.status;
