/**
 * A failure, in the shape the server uses for its own errors, and the words a person gets.
 *
 * A failure of the machine or of the connection gets a code of ours; a refusal keeps what the server said.
 */
import { type ErrorFacts, SallyportError } from '#sdk/errors.ts';
import { stripControls } from './control-characters.ts';

export type ErrorBody = { readonly error: ErrorFacts };

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
  { suggestions = [], ...options }: FailureOptions & { readonly suggestions?: string[] } = {},
): CliFailure => new CliFailure({ error: { code, message, suggestions, recoveryActions: [] } }, options);

/** The command line itself is wrong: nothing was sent anywhere. */
export const wrongUsage = (message: string, suggestions: readonly string[] = []): CliFailure =>
  failure('invalid_usage', message, { suggestions: [...suggestions], exitCode: exitCodes.wrongUsage });

export const toFailure = (error: unknown): CliFailure => {
  if (error instanceof CliFailure) return error;
  if (error instanceof SallyportError) return new CliFailure({ error: error.facts }, { cause: error });
  const message = error instanceof Error ? error.message : String(error);
  return failure('unexpected', message, { cause: error });
};

const loginHint =
  'Run `sallyport login` with a valid token (`npm start` prints one), or set SALLYPORT_TOKEN, which goes first.';
const limitHint =
  'See what is active with `sallyport sessions`, and end some with `sallyport stop <id…>`; with --stop, `chat` and `exec` end theirs.';
const startHint =
  'Start it with `npm start`, or check the URL with `sallyport whoami` and name another one with `sallyport login --url <url>`.';
const hints: Readonly<Record<string, string>> = {
  unauthenticated: loginHint,
  unreachable: startHint,
  unexpected_answer: 'Check the URL with `sallyport whoami`.',
  resource_limit_exceeded: limitHint,
};
/** Of these, a general advice to programs is of no use to a person. */
const hasOwnAdvice: ReadonlySet<string> = new Set(['unauthenticated', 'unreachable', 'unexpected_answer']);

/** The message with its code, then one line per suggestion. */
export const describeFailure = ({ error }: ErrorBody): readonly string[] => {
  const hint = hints[error.code];
  const advised = hasOwnAdvice.has(error.code) ? [] : error.suggestions;
  const suggestions = hint === undefined ? advised : [...advised, hint];
  return [
    `sallyport: ${stripControls(error.message)} (${stripControls(error.code)})`,
    ...suggestions.map((suggestion) => `  ${stripControls(suggestion)}`),
  ];
};
