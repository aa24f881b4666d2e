/**
 * The failures of the program, in the shape of the server's errors, and their text.
 *
 * A failure of the machine or of the connection gets a code of ours; a refusal keeps the server's code and message.
 */
import { type ErrorFacts, SallyportError } from '#sdk/errors.ts';
import { adviceOn } from '#shared/errors.ts';
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

/** Of a file that is named on the command line: what the system says of it. Any other cause is thrown as it is. */
export const unreadable =
  (file: string, suggestions: string[] = []) =>
  (cause: unknown): never => {
    if (!(cause instanceof Error && 'syscall' in cause && 'code' in cause)) throw cause;
    const message = `the local file ${file} cannot be read: ${cause.code}`;
    throw failure('file_not_found', message, { cause, suggestions });
  };

/** The command line is wrong: no request was sent. */
export const wrongUsage = (message: string, suggestions: readonly string[] = []): CliFailure =>
  failure('invalid_usage', message, { suggestions: [...suggestions], exitCode: exitCodes.wrongUsage });

/** The program is to end, which is no error of its command: nothing is reported. */
export const ended = (exitCode: number): CliFailure => failure(endedCode, 'the program ended', { exitCode });

const endedCode = 'ended';
export const isEnded = ({ body }: CliFailure): boolean => body.error.code === endedCode;

export const toFailure = (error: unknown): CliFailure => {
  if (error instanceof CliFailure) return error;
  if (error instanceof SallyportError) return new CliFailure({ error: error.facts }, { cause: error });
  const message = error instanceof Error ? error.message : String(error);
  return failure('unexpected', message, { cause: error });
};

const limitHint =
  'List active sessions with `sallyport sessions` and end some with `sallyport stop <id…>`. With --stop, `chat` and `exec` end their own.';
const hints: Readonly<Record<string, string>> = {
  project_not_found: 'A project is named by its id: `sallyport projects` lists the ids and their names.',
  schedule_not_found: 'A schedule is named by its id: `sallyport schedules` lists the ids and their names.',
  unexpected_answer: 'Check the URL: `sallyport whoami` shows the one in use.',
  resource_limit_exceeded: limitHint,
};
/** Codes whose suggestions are meant for programs and replaced by a hint. */
const hasOwnHint: ReadonlySet<string> = new Set([
  'unexpected_answer',
  'project_not_found',
  'schedule_not_found',
]);

/** For an error that comes without advice of its own: one of a turn. */
export const adviceFor = (code: string): string | undefined => hints[code] ?? adviceOn(code);

/** The message with its code, then one line per suggestion. */
export const describeFailure = ({ error }: ErrorBody): readonly string[] => {
  const hint = hints[error.code];
  const serverSuggestions = hasOwnHint.has(error.code) ? [] : error.suggestions;
  const suggestions = hint === undefined ? serverSuggestions : [...serverSuggestions, hint];
  return [
    `sallyport: ${stripControls(error.message)} (${stripControls(error.code)})`,
    ...suggestions.map((suggestion) => `  ${stripControls(suggestion)}`),
  ];
};
