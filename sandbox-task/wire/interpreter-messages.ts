/**
 * The messages between the runner and an interpreter: one piece of code at a time, over frames.
 *
 * Types only. The interpreter is user code's own process and not trusted; the runner parses its messages
 * (runner/interpreter.ts).
 */
export type Language = 'python' | 'node';

export type InterpreterRequest = {
  readonly type: 'run';
  /** Counts the calls of this sandbox: the code's name in tracebacks. */
  readonly number: number;
  /** Written to stdout and stderr before the code's own output and after it. */
  readonly begin: string;
  readonly end: string;
};

export type InterpreterMessage =
  | { readonly type: 'ready' }
  /** The payload is what to show, or nothing when it is longer than may be shown. */
  | { readonly type: 'display'; readonly mimeType: string; readonly bytes: number }
  | { readonly type: 'done'; readonly exitCode: number; readonly errorLine: string | null };

/** The bound of one displayed thing, and of all of one call. */
export const displayBytesMax = 4 * 1_048_576;
export const displaysMax = 8;
