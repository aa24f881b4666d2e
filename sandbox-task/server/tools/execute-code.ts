/**
 * `execute_code`: a piece of Python or Node in a fresh interpreter, in /workspace.
 *
 * Node accepts either module syntax and top-level await. The limits are those of `execute_command`; longer
 * code is written to a file and run from there.
 */
import * as z from 'zod';
import { defineTool, timeoutSeconds } from './tool.ts';

const interpreters = { python: ['python3', '-c'], node: ['node', '-e'] } as const;

export const executeCodeTool = defineTool({
  name: 'execute_code',
  description: 'Runs Python or Node.js code in a fresh interpreter in /workspace. There is no network.',
  input: z.object({
    code: z
      .string()
      .min(1)
      .max(120_000)
      .refine((text) => !text.includes('\0'), 'has no NUL character'),
    language: z.enum(['python', 'node']),
    timeout: timeoutSeconds,
  }),
  run: ({ code, language, timeout }, context) =>
    context.execute({ argv: [...interpreters[language], code], timeoutSeconds: timeout }, context),
});
