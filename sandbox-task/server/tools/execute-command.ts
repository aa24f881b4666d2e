/**
 * `execute_command`: a bash line, or with `args` one program without a shell.
 *
 * stdin is empty; each stream keeps its first and last 256 KB. A cancel, the timeout, or a limit kills
 * all of its processes; otherwise what it leaves in the background lives on.
 */
import * as z from 'zod';
import { defineTool, timeoutSeconds } from './tool.ts';

/** One argument of a program has at most 128 KiB with its NUL (execve(2), MAX_ARG_STRLEN). */
const argument = z
  .string()
  .max(120_000)
  .refine((text) => !text.includes('\0'), 'has no NUL character');

export const executeCommandTool = defineTool({
  name: 'execute_command',
  description:
    'Runs a command in /workspace: without args a bash line, with args the program directly. There is no network.',
  input: z.object({
    command: argument.min(1).describe('A bash line, or the name of a program when args are given.'),
    args: z.array(argument).max(1000).optional().describe('Arguments of the program; no shell reads them.'),
    timeout: timeoutSeconds,
  }),
  run: ({ command, args, timeout }, context) => {
    // Without these two options bash reads ~/.bashrc when its stdin looks like a network connection (bash(1), INVOCATION).
    const argv = args ? [command, ...args] : ['bash', '--norc', '--noprofile', '-c', command];
    return context.execute({ argv, timeoutSeconds: timeout }, context);
  },
});
