/**
 * Reads the result of a program from a sandbox's answer: validated, its failure classified, its exit code a number.
 *
 * A failure's kind is decided by `shared/domain/execution-failure.ts`, never from words in the output.
 */

import { decode } from '../../contracts/decode.ts';
import { programResult, type ReportedProgram } from '../../contracts/program-result.ts';
import { classify, type Failure } from '../../domain/execution-failure.ts';
import type { JsonObject } from '../../domain/json.ts';
import { AppError } from '../../errors.ts';

export type ProgramResult = Omit<ReportedProgram, 'exit_code' | 'error' | 'signal' | 'error_line'> & {
  readonly exitCode: number;
  /** Absent for a program that succeeded. */
  readonly failure?: Failure;
};

/** The code of timeout(1) for a program that it ended, and of a shell for one that SIGKILL ended. */
const timeoutExitCode = 124;
const killedExitCode = 137;

export const readProgramResult = (
  structured: JsonObject,
  { isCommand }: { readonly isCommand: boolean },
): ProgramResult => {
  const decoded = decode(programResult, structured);
  if (!decoded.ok)
    throw new AppError('internal_error', 'the sandbox gave a result of an unknown shape', {
      context: { problem: decoded.problem },
      suggestions: ['Run it again, or in a new session.'],
      recoveryActions: ['retry_operation', 'create_new_session'],
    });
  const { exit_code: exitCode, error: limit, signal, error_line: errorLine, ...rest } = decoded.value;
  const failure = classify({ exitCode, signal, errorLine, isCommand, limit });
  return {
    ...rest,
    exitCode: exitCode ?? (failure?.type === 'execution_timeout' ? timeoutExitCode : killedExitCode),
    ...(failure === undefined ? {} : { failure }),
  };
};
