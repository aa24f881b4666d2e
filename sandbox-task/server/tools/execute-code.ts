/**
 * `execute_code`: a piece of Python or Node in the sandbox's interpreter of that language, in /workspace.
 *
 * What it defines is there for the next call (docs/spec/sandbox.md, W12). Node accepts either module syntax and
 * top-level await. The limits are those of `execute_command`; the value of the last expression is not printed.
 */
import * as z from 'zod';
import { defineTool, timeoutSeconds } from './tool.ts';

const codeBytesMax = 1_048_576;

export const executeCodeTool = defineTool({
  name: 'execute_code',
  description:
    'Runs Python or Node.js code in /workspace. Variables, functions and imports last from call to call, per language. There is no network. display(mime_type, data) shows an image.',
  input: z.strictObject({
    code: z
      .string()
      .min(1)
      .refine((text) => Buffer.byteLength(text) <= codeBytesMax, `has at most ${codeBytesMax} bytes`)
      .refine((text) => !text.includes('\0'), 'has no NUL character'),
    language: z.enum(['python', 'node']),
    timeout: timeoutSeconds,
  }),
  run: ({ code, language, timeout }, context) =>
    context.execute({ work: { language, code }, timeoutSeconds: timeout }, context),
});
