/** What is printed of an error that nobody caught, as Node prints it, without the frames of our own. */
import { inspect } from 'node:util';

export type Failure =
  | { readonly kind: 'thrown'; readonly error: unknown }
  | { readonly kind: 'syntax'; readonly error: Error; readonly place: Place };
export type Place = {
  readonly name: string;
  readonly line: number;
  readonly column: number;
  readonly source: string;
};

const lineCharactersMax = 1000;

export const describeError = (
  failure: Failure,
): { readonly errorText: string; readonly errorLine: string } => {
  const { error } = failure;
  if (failure.kind === 'syntax') {
    const { name, line, column, source } = failure.place;
    const arrow = `${' '.repeat(Math.min(column, lineCharactersMax))}^`;
    const at = `${name}:${line}\n${source.slice(0, lineCharactersMax)}\n${arrow}\n\n`;
    return { errorText: `${at}${failure.error.name}: ${failure.error.message}\n`, errorLine: lineOf(error) };
  }
  const text = error instanceof Error ? inspect(error) : `Uncaught ${inspect(error)}`;
  return { errorText: `${text}\n`, errorLine: lineOf(error) };
};

const lineOf = (error: unknown): string => {
  const text = error instanceof Error ? String(error) : `Uncaught ${inspect(error)}`;
  return (text.split('\n')[0] ?? '').slice(0, lineCharactersMax);
};

/** Code is run through the inspector: what called that is of no interest to a stack's reader. */
export const hideOwnFrames = (): void => {
  Error.prepareStackTrace = (error, frames) => {
    const own = frames.findIndex((frame) => frame.getFileName() === 'node:inspector');
    const kept = own < 0 ? frames : frames.slice(0, own);
    return [String(error), ...kept.map((frame) => `    at ${frame}`)].join('\n');
  };
};
