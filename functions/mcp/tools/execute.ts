/**
 * `execute_code` and `execute_command`: a program in Python or Node, a bash line, or one program without a shell, in an
 * execution session that is created when none is named.
 *
 * `error` is there whenever the program did not end with 0 (read-program-result.ts).
 */
import * as z from 'zod';
import { findSession } from '#shared/application/access/find-session.ts';
import { type Executed, type Execution, execute } from '#shared/application/execution/execute.ts';
import {
  type BackgroundExecution,
  executeInBackground,
  type StartedInBackground,
} from '#shared/application/execution/execute-in-background.ts';
import { readProgramResult } from '#shared/application/execution/read-program-result.ts';
import { codeProgram } from '#shared/application/process/start-process.ts';
import {
  type ExecutionArguments,
  type ExecutionResult,
  executeCodeArguments,
  executeCommandArguments,
  executionResult,
} from '#shared/contracts/tools/mcp-tools.ts';
import type { ToolContent } from '#shared/domain/event-log.ts';
import type { Failure } from '#shared/domain/execution-failure.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { answerMarginMs } from '#shared/domain/limits.ts';
import type { Session } from '#shared/domain/session.ts';
import { languageOf } from '#shared/domain/template.ts';
import { toolTimeout } from '#shared/domain/tool-timeout.ts';
import { AppError } from '#shared/errors.ts';
import { defineTool, type ToolContext } from '../define-tool.ts';

export const executeCode = defineTool({
  name: 'execute_code',
  description:
    'Runs Python or Node.js code in an isolated sandbox and returns its output and the value of its last expression. A call without session_id creates a session; pass its id in later calls to keep its variables, imports and files (in /workspace). plt.show() and display(value) return images.',
  needs: 'own:write',
  input: executeCodeArguments,
  output: executionResult,
  annotations: { title: 'Run code', readOnlyHint: false, destructiveHint: true, openWorldHint: false },
  run: ({ code, ...input }, context) =>
    runExecution(context, input, {
      tool: 'execute_code',
      argsFor: ({ template }) => ({ code, language: input.template ?? languageOf(template) }),
      programFor: ({ template }) => codeProgram(code, input.template ?? languageOf(template)),
    }),
});

export const executeCommand = defineTool({
  name: 'execute_command',
  description:
    'Runs a command in /workspace of an isolated sandbox: a bash line, or with args one program without a shell. A call without session_id creates a session; pass its id in later calls to keep its files.',
  needs: 'own:write',
  input: executeCommandArguments,
  output: executionResult,
  annotations: { title: 'Run a command', readOnlyHint: false, destructiveHint: true, openWorldHint: false },
  run: ({ command, args, ...input }, context) =>
    runExecution(context, input, {
      tool: 'execute_command',
      argsFor: () => ({ command, ...(args === undefined ? {} : { args }) }),
      programFor: () => ({ command, args }),
    }),
});

const runExecution = async (
  context: ToolContext,
  input: ExecutionArguments,
  { programFor, argsFor, tool }: ProgramOf,
): Promise<ExecutionResult> => {
  const { ports, settings, principal, signal, onProgress, onPhase, onSession } = context;
  await refuseOtherProject(context, input);
  const timeout = timeoutOf(context, input);
  const options = {
    principal,
    sessionId: input.session_id,
    options: { project: input.project_id, flavor: input.flavor, template: input.template },
    defaults: settings.defaults,
    wait: { waitSeconds: input.wait_seconds, evictIdle: input.evict_idle, signal },
    timeoutSeconds: timeout,
    onPhase,
    onSession,
  };
  if (input.background) {
    const { cwd, env } = input;
    const placed = (session: Session) => ({ ...programFor(session), cwd, env });
    return startedResult(await executeInBackground(ports, { ...options, programFor: placed }));
  }
  const executed = await execute(ports, {
    ...{ ...options, tool, onProgress },
    argsFor: (session) => ({ ...argsFor(session), ...optionsOf(context, { ...input, timeout }) }),
  });
  for (const block of displayedContent(executed.content, executed.structured['value'])) context.show(block);
  return toExecutionResult(executed, tool);
};

type ProgramOf = Pick<Execution, 'argsFor'> &
  Pick<BackgroundExecution, 'programFor'> & { readonly tool: ExecutionTool };

const timeoutOf = ({ settings }: ToolContext, { timeout: asked, background }: ExecutionArguments): number => {
  if (background) return asked;
  const within = toolTimeout(asked, settings.toolSecondsMax);
  if (within.problem === undefined) return within.seconds;
  throw new AppError('invalid_request', within.problem, {
    suggestions: ['Start it with background: true, which has no timeout.'],
    recoveryActions: ['correct_arguments'],
  });
};

/** Nothing is known of its end yet. */
const startedResult = ({
  session,
  sessionCreated,
  processId,
  stateLost,
}: StartedInBackground): ExecutionResult => ({
  session_id: session.id,
  process_id: processId,
  ...{ stdout: '', stderr: '', exit_code: 0, execution_time_ms: 0 },
  session_created: sessionCreated,
  ...(stateLost ? { state_lost: true } : {}),
});

/**
 * A program ends before the function that waits for it: a response lasts at most 15 minutes (A15 of docs/spec/aws.md), after
 * which no client could be told.
 */
const optionsOf = (
  { ports, deadlineAt }: ToolContext,
  { timeout, cwd, env, output_limit }: ExecutionArguments,
): JsonObject => {
  const secondsLeft = Math.floor((deadlineAt - answerMarginMs - ports.world.now()) / 1000);
  return {
    timeout: Math.max(1, Math.min(timeout, secondsLeft)),
    output_limit,
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env }),
  };
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

type ExecutionTool = 'execute_code' | 'execute_command';

export const toExecutionResult = (executed: Executed, tool: ExecutionTool): ExecutionResult => {
  const isCommand = tool === 'execute_command';
  const { exitCode, failure, ...program } = readProgramResult(executed.structured, { isCommand });
  const { stdout, stderr, execution_time_ms, state_lost: isLost, ...more } = program;
  // Bundles are for programs that ask for them; a client of MCP gets blocks.
  const { results: _results, results_left_out: _leftOut, ...rest } = more;
  const { session, sessionCreated, stateLost, notices } = executed;
  return {
    session_id: session.id,
    stdout,
    stderr,
    exit_code: exitCode,
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
/**
 * The first block is the result as text, which the result's own fields repeat, except the value of code. Data that the app
 * shows to people would be text to a model.
 */
export const displayedContent = (
  content: readonly ToolContent[],
  value?: unknown,
): readonly z.output<typeof block>[] => {
  let characters = 0;
  const blocks = content.slice(1).filter(isShownToModels).slice(0, blocksMax);
  return [...blocks, ...(value === undefined ? [] : [{ type: 'text', text: value }])].flatMap((given) => {
    const parsed = block.safeParse(given);
    if (!parsed.success) return [];
    characters += parsed.data.type === 'image' ? parsed.data.data.length : parsed.data.text.length;
    return characters > contentCharactersMax ? [] : [parsed.data];
  });
};

const isShownToModels = ({ type }: ToolContent): boolean => type !== 'resource';
