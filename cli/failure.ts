/**
 * What went wrong, in the shape the server uses for its own errors, and the words a person gets.
 *
 * A failure of the machine or of the connection gets a code of ours; a refusal keeps what the server said.
 */
import { stripControls } from './control-characters.ts';

export type ErrorBody = {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly suggestions: readonly string[];
    readonly recoveryActions: readonly string[];
    readonly requestId?: string;
  };
};

export const exitCodes = { failed: 1, wrongUsage: 2, interrupted: 130 } as const;

export class CliFailure extends Error {
  override readonly name = 'CliFailure';
  readonly body: ErrorBody;
  readonly exitCode: number;

  constructor(body: ErrorBody, { exitCode = exitCodes.failed, cause }: FailureOptions = {}) {
    super(body.error.message, cause === undefined ? undefined : { cause });
    this.body = body;
    this.exitCode = exitCode;
  }
}

type FailureOptions = { readonly exitCode?: number; readonly cause?: unknown };

export const failure = (
  code: string,
  message: string,
  { suggestions = [], ...options }: FailureOptions & { readonly suggestions?: readonly string[] } = {},
): CliFailure => new CliFailure({ error: { code, message, suggestions, recoveryActions: [] } }, options);

/** The command line itself is wrong: nothing was sent anywhere. */
export const wrongUsage = (message: string, suggestions: readonly string[] = []): CliFailure =>
  failure('invalid_usage', message, { suggestions, exitCode: exitCodes.wrongUsage });

export const toFailure = (error: unknown): CliFailure => {
  if (error instanceof CliFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  return failure('unexpected', message, { cause: error });
};

const loginHint =
  'Run `sallyport login` with a valid token (`npm start` prints one), or set SALLYPORT_TOKEN, which goes first.';
const limitHint =
  'See what is active with `sallyport sessions`, and end some with `sallyport stop <id…>`; with --stop, `chat` and `exec` end theirs.';
const hints: Readonly<Record<string, string>> = {
  unauthenticated: loginHint,
  resource_limit_exceeded: limitHint,
};

/** The message with its code, then one line per suggestion. */
export const describeFailure = ({ error }: ErrorBody): readonly string[] => {
  const hint = hints[error.code];
  // What the server advises to a program without a token is of no use to a person.
  const advised = error.code === 'unauthenticated' ? [] : error.suggestions;
  const suggestions = hint === undefined ? advised : [...advised, hint];
  return [
    `sallyport: ${stripControls(error.message)} (${stripControls(error.code)})`,
    ...suggestions.map((suggestion) => `  ${stripControls(suggestion)}`),
  ];
};

const isText = (value: unknown): value is string => typeof value === 'string';
const texts = (value: unknown): readonly string[] => (Array.isArray(value) ? value.filter(isText) : []);

/** A refusal as the server wrote it; undefined for an answer that is no error body of a Sallyport. */
export const readErrorBody = (answer: unknown): ErrorBody | undefined => {
  const error = (answer as { error?: unknown } | null)?.error;
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, message, suggestions, recoveryActions, ...rest } = error as Record<string, unknown>;
  if (!isText(code) || !isText(message)) return undefined;
  return {
    error: {
      code,
      message,
      suggestions: texts(suggestions),
      recoveryActions: texts(recoveryActions),
      ...rest,
    },
  };
};
