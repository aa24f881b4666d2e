/** `execute_code`: a program in Python or Node, in an execution session that is created when none is named. */
import { executeCodeArguments, executionResult } from '#shared/contracts/tools/mcp-tools.ts';
import { defineTool } from '../define-tool.ts';
import { runExecution } from '../run-execution.ts';

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
