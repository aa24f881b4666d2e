/**
 * The result of an execution for its client: the sandbox's untrusted result, validated and classified.
 *
 * Pure. `error` is there whenever the program did not end with 0; `shared/domain/execution-failure.ts` decides its
 * kind, never from words in the output.
 */
import * as z from 'zod';
import type { Executed } from '#shared/application/execution/execute.ts';
import { decode } from '#shared/contracts/decode.ts';
import type { ExecutionResult } from '#shared/contracts/tools/mcp-tools.ts';
import { classify, type Failure } from '#shared/domain/execution-failure.ts';
import { AppError } from '#shared/errors.ts';

const sandboxError = z.object({
  type: z.enum(['execution_timeout', 'resource_limit_exceeded', 'system_error', 'cancelled']),
  message: z.string(),
});

const amount = z.number().nonnegative();
const sandboxResult = z.object({
  stdout: z.string(),
  stderr: z.string(),
  /** Null: it was killed. */
  exit_code: z.int().nullable(),
  execution_time_ms: amount,
  stdout_truncated: z.boolean().optional(),
  stderr_truncated: z.boolean().optional(),
  cpu_ms: amount.optional(),
  memory_peak_mb: amount.optional(),
  /** Variables of its interpreter from earlier calls are lost. */
  state_lost: z.boolean().optional(),
  signal: z.string().max(20).optional(),
  error_line: z.string().optional(),
  error: sandboxError.optional(),
});

/** The code of timeout(1) for a program that it ended, and of a shell for one that SIGKILL ended. */
const timeoutExitCode = 124;
const killedExitCode = 137;

export type ExecutionTool = 'execute_code' | 'execute_command';

export const toExecutionResult = (executed: Executed, tool: ExecutionTool): ExecutionResult => {
  const decoded = decode(sandboxResult, executed.structured);
  if (!decoded.ok)
    throw new AppError('internal_error', 'the sandbox gave a result of an unknown shape', {
      context: { problem: decoded.problem },
      suggestions: ['Run it again, or in a new session.'],
      recoveryActions: ['retry_operation', 'create_new_session'],
    });
  const { stdout, stderr, exit_code: exitCode, execution_time_ms, ...more } = decoded.value;
  const { error, signal, error_line: errorLine, state_lost: isLost, ...rest } = more;
  const isCommand = tool === 'execute_command';
  const failure = classify({ exitCode, signal, errorLine, isCommand, limit: error });
  const { session, sessionCreated, stateLost, notices } = executed;
  return {
    session_id: session.id,
    stdout,
    stderr,
    exit_code: exitCode ?? (failure?.type === 'execution_timeout' ? timeoutExitCode : killedExitCode),
    execution_time_ms,
    session_created: sessionCreated,
    ...(failure === undefined ? {} : { error: toExecutionError(failure) }),
    ...rest,
    ...(stateLost || isLost ? { state_lost: true } : {}),
    ...(notices.length === 0 ? {} : { notices: [...notices] }),
  };
};

const toExecutionError = ({ type, message, suggestions, recoveryActions }: Failure) => ({
  type,
  message,
  suggestions: [...suggestions],
  recovery_actions: [...recoveryActions],
});
