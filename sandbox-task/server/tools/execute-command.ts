/**
 * `execute_command`: a bash line, or with `args` one program without a shell.
 *
 * stdin is empty; each stream keeps its first and last 256 KB. A cancel, the timeout, or a limit kills
 * all of its processes; otherwise what it leaves in the background lives on.
 */
import * as z from 'zod';
import { defineTool, timeoutSeconds } from './tool.ts';

/** 128 KiB with its NUL (execve(2), MAX_ARG_STRLEN). */
const argumentBytesMax = 131_071;
/** All of them and the environment have a quarter of the stack, 2 MiB (execve(2), ARG_MAX). */
const argumentsBytesMax = 1_048_576;
const bytesOf = (texts: readonly string[]): number =>
  texts.reduce((bytes, text) => bytes + Buffer.byteLength(text) + 1, 0);

const argument = z
  .string()
  .refine(
    (text) => Buffer.byteLength(text) <= argumentBytesMax,
    `has at most ${argumentBytesMax} bytes, as one argument of a program (MAX_ARG_STRLEN); longer text goes into a file`,
  )
  .refine((text) => !text.includes('\0'), 'has no NUL character');

export const executeCommandTool = defineTool({
  name: 'execute_command',
  description:
    'Runs a command in /workspace: without args a bash line, with args the program directly. There is no network.',
  input: z.strictObject({
    command: argument.min(1).describe('A bash line, or the name of a program when args are given.'),
    args: z
      .array(argument)
      .max(1000)
      .refine(
        (texts) => bytesOf(texts) <= argumentsBytesMax,
        `have at most ${argumentsBytesMax} bytes in all`,
      )
      .optional()
      .describe('Arguments of the program; no shell reads them.'),
    timeout: timeoutSeconds,
  }),
  run: ({ command, args, timeout }, context) => {
    // Without these two options bash reads ~/.bashrc when its stdin looks like a network connection (bash(1), INVOCATION).
    const argv = args ? [command, ...args] : ['bash', '--norc', '--noprofile', '-c', command];
    return context.execute({ work: { argv }, timeoutSeconds: timeout }, context);
  },
});
