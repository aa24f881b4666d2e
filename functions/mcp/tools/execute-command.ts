/** `execute_command`: a bash line, or with `args` one program without a shell, in an execution session. */
import { executeCommandArguments, executionResult } from '#shared/contracts/tools/mcp-tools.ts';
import { defineTool } from '../define-tool.ts';
import { runExecution } from '../run-execution.ts';

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
