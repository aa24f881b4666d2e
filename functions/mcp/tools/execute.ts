/**
 * `execute_code` and `execute_command`: a program in Python or Node, a bash line, or one program without a shell, in an
 * execution session that is created when none is named.
 *
 * The sandbox's result is untrusted: validated and classified. `error` is there whenever the program did not end with 0;
 * `shared/domain/execution-failure.ts` decides its kind, never from words in the output.
 */
import * as z from 'zod';
import { findSession } from '#shared/application/access/find-session.ts';
import { type Executed, type Execution, execute } from '#shared/application/execution/execute.ts';
import { decode } from '#shared/contracts/decode.ts';
import {
  type ExecutionArguments,
  type ExecutionResult,
  executeCodeArguments,
  executeCommandArguments,
  executionResult,
} from '#shared/contracts/tools/mcp-tools.ts';
import type { ToolContent } from '#shared/domain/event-log.ts';
import { classify, type Failure } from '#shared/domain/execution-failure.ts';
import { AppError } from '#shared/errors.ts';
import { defineTool, type ToolContext } from '../define-tool.ts';

export const executeCode = defineTool({
  name: 'execute_code',
  description:
    'Runs Python or Node.js code in an isolated sandbox without network and returns its output. A call without session_id creates a session; pass its id in later calls to keep its variables, imports and files (in /workspace). plt.show() and display(mime_type, data) return images.',
  needs: 'own:write',
  input: executeCodeArguments,
  output: executionResult,
  annotations: { title: 'Run code', destructiveHint: false, openWorldHint: false },
  run: ({ code, ...input }, context) =>
    runExecution(context, input, {
      tool: 'execute_code',
      argsFor: ({ template }) => ({ code, language: input.template ?? template, timeout: input.timeout }),
    }),
});

export const executeCommand = defineTool({
  name: 'execute_command',
  description:
    'Runs a command in /workspace of an isolated sandbox without network: a bash line, or with args one program without a shell. A call without session_id creates a session; pass its id in later calls to keep its files.',
  needs: 'own:write',
  input: executeCommandArguments,
  output: executionResult,
  annotations: { title: 'Run a command', openWorldHint: false },
  run: ({ command, args, ...input }, context) =>
    runExecution(context, input, {
      tool: 'execute_command',
      argsFor: () => ({ command, ...(args === undefined ? {} : { args }), timeout: input.timeout }),
    }),
});

const runExecution = async (
  context: ToolContext,
  input: ExecutionArguments,
  program: Pick<Execution, 'argsFor'> & { readonly tool: ExecutionTool },
): Promise<ExecutionResult> => {
  const { ports, settings, principal, correlationId, signal, onProgress, onPhase } = context;
  await refuseOtherProject(context, input);
  const executed = await execute(ports, {
    ...program,
    principal,
    sessionId: input.session_id,
    options: { project: input.project_id, flavor: input.flavor, template: input.template },
    defaults: settings.defaults,
    wait: { waitSeconds: input.wait_seconds, evictIdle: input.evict_idle, correlationId, signal },
    timeoutSeconds: input.timeout,
    onProgress,
    onPhase,
  });
  for (const block of displayedContent(executed.content, executed.structured['value'])) context.show(block);
  return toExecutionResult(executed, program.tool);
};

/** A session stays in its project: a call that names another is refused rather than run in the wrong one. */
const refuseOtherProject = async (
  { ports, principal, intent }: ToolContext,
  { session_id: id, project_id: project }: ExecutionArguments,
): Promise<void> => {
  if (id === undefined || project === undefined) return;
  const { session } = await findSession(ports.turns, { id, principal, intent });
  if (session.project === project) return;
  throw new AppError('invalid_session_state', 'the session is of another project', {
    suggestions: ['Leave the project out, or create a new session.'],
    recoveryActions: ['create_new_session'],
  });
};

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

type ExecutionTool = 'execute_code' | 'execute_command';

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

const blocksMax = 10;
const contentCharactersMax = 6 * 1_048_576;

const block = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('image'),
    data: z.base64(),
    mimeType: z.string().regex(/^image\/[\w.+-]{1,100}$/),
  }),
  z.object({ type: z.literal('text'), text: z.string() }),
]);
/** The first block is the result as text, which the result's own fields repeat, except the value of code. */
export const displayedContent = (
  content: readonly ToolContent[],
  value?: unknown,
): readonly z.output<typeof block>[] => {
  let characters = 0;
  const blocks = content.slice(1, 1 + blocksMax);
  return [...blocks, ...(value === undefined ? [] : [{ type: 'text', text: value }])].flatMap((given) => {
    const parsed = block.safeParse(given);
    if (!parsed.success) return [];
    characters += parsed.data.type === 'image' ? parsed.data.data.length : parsed.data.text.length;
    return characters > contentCharactersMax ? [] : [parsed.data];
  });
};
