/**
 * The failure of a program: its kind, one line that describes it, and a hint that may help; and its exit code, as a
 * tool's result tells it.
 *
 * Decided from exit code, signal and the interpreter's final error line only. Words anywhere in the output decide
 * nothing: a program may print `memory`, or warn, and succeed.
 */

type FailureType =
  | 'compilation_error'
  | 'runtime_error'
  | 'execution_timeout'
  | 'resource_limit_exceeded'
  | 'system_error'
  | 'code_execution_error'
  | 'cancelled';

type Ending = {
  /** Null: it was killed. */
  readonly exitCode: number | null;
  readonly signal?: string | undefined;
  /** `ValueError: no`: the interpreter's line for an uncaught error. */
  readonly errorLine?: string | undefined;
  /** A shell's code over 128 names the signal that ended its program. */
  readonly isCommand?: boolean;
  /** The reason for which the sandbox itself ended it. */
  readonly limit?: { readonly type: LimitType; readonly message: string } | undefined;
};
type LimitType = 'execution_timeout' | 'resource_limit_exceeded' | 'system_error' | 'cancelled';

export type Failure = {
  readonly type: FailureType;
  readonly message: string;
  readonly suggestions: readonly string[];
  readonly recoveryActions: readonly string[];
};

const messageCharactersMax = 500;
/** A longer word is split after all. */
const wordCharactersMax = 100;
const cutMark = '... (truncated)';
/**
 * A shell answers 128 plus the number of a signal (bash(1), EXIT STATUS); 31 is the last signal that is not a
 * real-time one.
 */
const signalCodes = { over: 128, max: 128 + 31 };
const notExecutable = 126;
const notFound = 127;

const syntaxErrors = /^(?:SyntaxError|IndentationError|TabError)(?::|$)/;
const memoryErrors = /^MemoryError(?::|$)|^FATAL ERROR: .*JavaScript heap out of memory/;

/** Undefined for a success. */
export const classify = (ending: Ending): Failure | undefined => {
  const found = decide(ending);
  if (found === undefined) return undefined;
  return { type: found.type, message: cutOnWord(found.message), ...advice[found.type] };
};

type Decision = { readonly type: FailureType; readonly message: string };

const decide = (ending: Ending): Decision | undefined => {
  const { exitCode, signal, limit } = ending;
  if (limit !== undefined) return limit;
  if (exitCode === 0 && signal === undefined) return undefined;
  const byLine = decideByLine(ending);
  if (byLine !== undefined) return byLine;
  if (signal !== undefined) return { type: 'system_error', message: `killed by ${signal}` };
  if (exitCode === null) return { type: 'system_error', message: 'killed' };
  return decideByCode(exitCode, ending.isCommand ?? false);
};

const decideByLine = ({ exitCode, signal, errorLine = '' }: Ending): Decision | undefined => {
  if (errorLine === '') return undefined;
  if (memoryErrors.test(errorLine)) return { type: 'resource_limit_exceeded', message: errorLine };
  if (signal !== undefined || exitCode !== 1) return undefined;
  const type = syntaxErrors.test(errorLine) ? 'compilation_error' : 'runtime_error';
  return { type, message: errorLine };
};

const decideByCode = (exitCode: number, isCommand: boolean): Decision => {
  const said = `exit code ${exitCode}`;
  if (exitCode === notFound) return { type: 'system_error', message: `the program was not found (${said})` };
  if (exitCode === notExecutable)
    return { type: 'system_error', message: `the program could not be run (${said})` };
  if (isCommand && exitCode > signalCodes.over && exitCode <= signalCodes.max)
    return { type: 'system_error', message: `killed by signal ${exitCode - signalCodes.over} (${said})` };
  return { type: 'code_execution_error', message: `it ended with ${said}` };
};

type Advice = Pick<Failure, 'suggestions' | 'recoveryActions'>;

const advice: Readonly<Record<FailureType, Advice>> = {
  compilation_error: {
    suggestions: ['Correct the syntax where the message points.', 'Check the language: python or node.'],
    recoveryActions: ['fix_syntax_and_retry'],
  },
  runtime_error: {
    suggestions: ['Read the traceback in stderr.', 'Print the values that lead to the error.'],
    recoveryActions: ['debug_and_retry'],
  },
  execution_timeout: {
    suggestions: ['Set a longer timeout, up to the limit of this deployment.', 'Do less in one call.'],
    recoveryActions: ['wait_and_retry', 'retry_with_optimization'],
  },
  resource_limit_exceeded: {
    suggestions: ['Create a new session with a larger flavor.', 'Use less memory and fewer processes.'],
    recoveryActions: ['create_new_session', 'retry_with_optimization'],
  },
  system_error: {
    suggestions: ['Check that the program exists and can be run.', 'Run it again.'],
    recoveryActions: ['retry_operation', 'create_new_session'],
  },
  code_execution_error: {
    suggestions: ['Read what it printed to stdout and stderr.'],
    recoveryActions: ['debug_and_retry'],
  },
  cancelled: {
    suggestions: ['Run it again if it is still needed.'],
    recoveryActions: ['retry_operation'],
  },
};

/** At most 500 characters, including the ellipsis; a word or a surrogate pair is not split. */
const cutOnWord = (text: string): string => {
  if (text.length <= messageCharactersMax) return text;
  const room = messageCharactersMax - cutMark.length;
  const space = text.slice(0, room + 1).search(/\s\S*$/);
  const kept = text.slice(0, space > room - wordCharactersMax ? space : room).trimEnd();
  return `${/[\uD800-\uDBFF]$/.test(kept) ? kept.slice(0, -1) : kept}${cutMark}`;
};

/** The last line of a failed program's result: models read it, and clients that show a call to people. */
export const exitLine = (code: number): string => `Exit code: ${code}`;

const lastLine = /(?:^|\n)Exit code: (\d+)\s*$/;

/** Undefined for a program that succeeded, or whose end is not stated. */
export const exitCodeIn = (text: string): number | undefined => {
  const [, code] = lastLine.exec(text) ?? [];
  return code === undefined ? undefined : Number(code);
};
