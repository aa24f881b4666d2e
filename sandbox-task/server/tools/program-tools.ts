/**
 * `execute_command` and `execute_code`: programs of the user, in /workspace.
 *
 * stdin is empty; each stream keeps its first and last 256 KB. A cancel, the timeout or a limit kills all
 * processes of the call; otherwise its background processes live on. Definitions of code last until the next
 * call (docs/spec/sandbox.md, W12).
 */
import { sandboxTools } from '#shared/contracts/tools/sandbox-tools.ts';
import { defineTool } from './tool.ts';

export const executeCommandTool = defineTool({
  name: 'execute_command',
  contract: sandboxTools.execute_command,
  run: ({ command, args, timeout }, context) => {
    // Without these two options bash reads ~/.bashrc when its stdin looks like a network connection (bash(1), INVOCATION).
    const argv = args ? [command, ...args] : ['bash', '--norc', '--noprofile', '-c', command];
    return context.execute({ work: { argv }, timeoutSeconds: timeout }, context);
  },
});

export const executeCodeTool = defineTool({
  name: 'execute_code',
  contract: sandboxTools.execute_code,
  run: ({ code, language, timeout }, context) =>
    context.execute({ work: { language, code }, timeoutSeconds: timeout }, context),
});
