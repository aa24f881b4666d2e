/**
 * The error table: every code a client can get, with its HTTP status, whether a retry can help, and what to do
 * about it.
 *
 * One table, one class. A code that is missing here does not compile; the literals are frozen by
 * errors.pin.test.ts and explained one by one in docs/runbook.md. `cause` and `context` never cross the wire.
 */
export type ErrorRule = {
  readonly status: number;
  readonly retry: 'never' | 'later';
  /** Said where the error itself suggests nothing. */
  readonly advice: string;
};

export const errorRules = {
  invalid_request: {
    status: 400,
    retry: 'never',
    advice: 'Correct what the message names, and send the request again.',
  },
  invalid_flavor: { status: 400, retry: 'never', advice: 'Use one of the flavors that the message names.' },
  unsupported_language: {
    status: 400,
    retry: 'never',
    advice: 'Use one that the message lists.',
  },
  path_outside_workspace: {
    status: 400,
    retry: 'never',
    advice: 'Use a path inside the workspace, relative to it.',
  },
  provider_not_configured: {
    status: 400,
    retry: 'never',
    advice: 'Choose another provider, or ask an operator to configure this one.',
  },
  unauthenticated: {
    status: 401,
    retry: 'never',
    advice: 'Send a token of this deployment: Authorization: Bearer <token>.',
  },
  forbidden: { status: 403, retry: 'never', advice: 'Use a token whose scope allows this.' },
  not_found: {
    status: 404,
    retry: 'never',
    advice: 'Check the address: GET /api/openapi.json lists all routes.',
  },
  session_not_found: { status: 404, retry: 'never', advice: 'List the sessions, or create a new one.' },
  project_not_found: { status: 404, retry: 'never', advice: 'List the projects, and use the id of one.' },
  workspace_not_found: {
    status: 404,
    retry: 'never',
    advice: 'List the workspaces of the project, or create one.',
  },
  schedule_not_found: { status: 404, retry: 'never', advice: 'List the schedules.' },
  token_not_found: { status: 404, retry: 'never', advice: 'List the tokens.' },
  mcp_server_not_found: { status: 404, retry: 'never', advice: 'List the MCP servers of the project.' },
  file_not_found: { status: 404, retry: 'never', advice: 'List the files of the workspace.' },
  invalid_session_state: {
    status: 409,
    retry: 'never',
    advice: 'Read the session: its status says what it allows.',
  },
  conflict: { status: 409, retry: 'never', advice: 'Read the current state, then decide again.' },
  no_pending_tool_call: {
    status: 409,
    retry: 'never',
    advice: 'Read the session: it lists the calls that wait for a decision.',
  },
  events_purged: { status: 410, retry: 'never', advice: 'Continue from the oldest stored event.' },
  payload_too_large: { status: 413, retry: 'never', advice: 'Send less at once.' },
  context_too_long: { status: 422, retry: 'never', advice: 'Shorten the message, or start a new session.' },
  content_refused: { status: 422, retry: 'never', advice: 'Rephrase the message, or choose another model.' },
  upgrade_required: {
    status: 426,
    retry: 'never',
    advice: 'Use plain HTTP, or run the platform on one machine.',
  },
  resource_limit_exceeded: {
    status: 429,
    retry: 'later',
    advice: 'End or remove what you no longer need, or try again later.',
  },
  rate_limited: { status: 429, retry: 'later', advice: 'Wait as long as Retry-After says, then try again.' },
  too_many_requests: {
    status: 429,
    retry: 'later',
    advice: 'Wait until earlier work is done, then try again.',
  },
  internal_error: { status: 500, retry: 'later', advice: 'Try again in a moment.' },
  provider_auth_failed: {
    status: 502,
    retry: 'never',
    advice: "Ask an operator to check the provider's key.",
  },
  sandbox_start_failed: { status: 502, retry: 'later', advice: 'Try again in a minute.' },
  sandbox_starting: { status: 503, retry: 'later', advice: 'Try again in a few seconds.' },
  sandbox_unavailable: {
    status: 503,
    retry: 'later',
    advice: 'Try again in a few seconds: a new sandbox is started.',
  },
  provider_rate_limited: {
    status: 503,
    retry: 'later',
    advice: 'Try again in a minute, or choose another model.',
  },
  provider_overloaded: {
    status: 503,
    retry: 'later',
    advice: 'Try again in a minute, or choose another model.',
  },
  provider_unavailable: {
    status: 503,
    retry: 'later',
    advice: 'Try again in a minute, or choose another model.',
  },
  tool_failed: {
    status: 502,
    retry: 'never',
    advice: "Read the tool's own message, and call it with other arguments.",
  },
  mcp_server_unavailable: {
    status: 503,
    retry: 'later',
    advice: 'Check the address of the MCP server and that it runs, then try again.',
  },
  issuer_unavailable: {
    status: 503,
    retry: 'later',
    advice: 'Try again in a minute, or sign in with a token.',
  },
  execution_timeout: {
    status: 504,
    retry: 'never',
    advice: 'Raise the timeout, or run it in the background.',
  },
  tool_outcome_unknown: {
    status: 500,
    retry: 'never',
    advice: 'Look at the workspace to see what the call did before it is repeated.',
  },
} as const satisfies Record<string, ErrorRule>;

export type ErrorCode = keyof typeof errorRules;

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorRules, code);

/** For an error that came without: one of the log. Undefined for a code of a newer server. */
export const adviceOn = (code: string): string | undefined =>
  isErrorCode(code) ? errorRules[code].advice : undefined;

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

/** A request to a sandbox of which no byte was sent: it has had no effect. */
export class UnsentError extends AppError {
  constructor(message: string) {
    super('sandbox_unavailable', message);
  }
}

/** A model provider refused before it began to answer: it charges nothing for that. */
export const isUncharged = (error: unknown): boolean =>
  isAppError(error) && error.details.context?.['isUncharged'] === true;

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
      suggestions: known?.details.suggestions ?? [errorRules[known?.code ?? 'internal_error'].advice],
      recoveryActions: known ? (known.details.recoveryActions ?? []) : ['wait_and_retry'],
      requestId,
      ...known?.details.facts,
    },
  };
};

export const errorStatus = (error: unknown): number =>
  isAppError(error) ? errorRules[error.code].status : errorRules.internal_error.status;
