/** Runs a program for one of the two execution tools: their common arguments become the use case's options. */

import { findSession } from '#shared/application/access/find-session.ts';
import { type Execution, execute } from '#shared/application/execution/execute.ts';
import type { ExecutionArguments, ExecutionResult } from '#shared/contracts/tools/mcp-tools.ts';
import { AppError } from '#shared/errors.ts';
import type { ToolContext } from './define-tool.ts';
import { displayedContent } from './displayed-content.ts';
import { type ExecutionTool, toExecutionResult } from './execution-result.ts';

export const runExecution = async (
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
  for (const block of displayedContent(executed.content)) context.show(block);
  return toExecutionResult(executed, program.tool);
};

/** A session stays in its project: a call that names another is refused rather than run in the wrong one. */
const refuseOtherProject = async (
  { ports, principal, intent }: ToolContext,
  { session_id: id, project_id: project }: ExecutionArguments,
): Promise<void> => {
  if (id === undefined || project === undefined) return;
  const { session } = await findSession(ports.sessions, { id, principal, intent });
  if (session.project === project) return;
  throw new AppError('invalid_session_state', 'the session is of another project', {
    suggestions: ['Leave the project out, or make a new session.'],
    recoveryActions: ['create_new_session'],
  });
};
