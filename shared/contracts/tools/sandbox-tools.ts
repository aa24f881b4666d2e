/**
 * The contracts of the tools that a sandbox runs: descriptions, parameters and their bounds.
 *
 * Three readers derive theirs from here. The sandbox's server parses a call with `input`. A language model is offered
 * the parameters that it needs, in words for it (offered-tools.ts). `/mcp` takes the bounds and adds what a
 * session needs (mcp-tools.ts). Names are in domain/tools.ts, the code in sandbox-task/server/tools.ts.
 */
import * as z from 'zod';
import { executionSecondsMax, toolTimeoutSeconds } from '#shared/domain/limits.ts';
import { languages } from '#shared/domain/template.ts';
import { utf8Bytes } from '#shared/domain/text.ts';
import type { SandboxToolName } from '#shared/domain/tools.ts';
import { filePath } from '../fields.ts';
import { onFirstUse } from '../on-first-use.ts';
import {
  hasNoNul,
  noNul,
  programArguments,
  programCommand,
  programVariables,
  workingFolder,
} from '../program-fields.ts';

/** It reaches its interpreter through a pipe. */
export const codeBytesMax = 1_048_576;
/** A larger file would fill its reader's memory, a model's or a program's. */
export const readFileBytesMax = 1_048_576;
export const executionSecondsMin = 1;
export const codeContextName = /^[\w-]{1,64}$/;
export const codeContextRule = 'a context has 1 to 64 letters, digits, hyphens and underscores';

export const timeoutSeconds = z
  .number()
  .min(executionSecondsMin)
  .max(executionSecondsMax)
  .default(toolTimeoutSeconds)
  .describe(`Seconds until the program is killed, ${executionSecondsMin} to ${executionSecondsMax}.`);

const workspacePath = filePath.describe('Path in /workspace: relative to it, or absolute under it.');

export const outputLimitMin = 1;
export const outputLimitMax = 100_000;

const surroundings = () => ({
  cwd: workingFolder.optional(),
  env: programVariables.optional().describe('Environment variables of this call.'),
  output_limit: z
    .int()
    .min(outputLimitMin)
    .max(outputLimitMax)
    .optional()
    .describe(
      'Characters of each stream in the result, head and tail; a longer one is whole in a file that the result names.',
    ),
});

export type SandboxToolContract<Input extends z.ZodObject = z.ZodObject> = {
  readonly description: string;
  readonly input: Input;
  /** The parameters that a language model is offered, each with its description; an empty one is left out. */
  readonly offered: { readonly [Name in keyof z.output<Input>]?: string };
  /** Parameters of the agent's tool that the platform reads and the sandbox never receives. */
  readonly platform?: z.ZodRawShape;
};

/** An agent's own tools run a program to its end, or start it as a process. */
const background = {
  background: z
    .boolean()
    .default(false)
    .describe('True: start it as a process and return its id at once; see the tool process. No timeout.'),
};

type Definition<Input extends z.ZodObject> = Omit<SandboxToolContract<Input>, 'input'> & {
  readonly input: () => Input;
};

/** Its schema is made when it is first read: a sandbox is asked for one or two of its tools. */
const contract = <Input extends z.ZodObject>(definition: Definition<Input>): SandboxToolContract<Input> => {
  const input = onFirstUse(definition.input);
  return Object.defineProperty({ ...definition }, 'input', {
    enumerable: true,
    get: input,
  }) as unknown as SandboxToolContract<Input>;
};

const timeoutOffered = `Timeout in seconds, ${toolTimeoutSeconds} by default.`;
const pathOffered = 'Path in the workspace, relative to /workspace.';

export const sandboxTools = {
  execute_command: contract({
    description: 'Runs a bash line in the sandbox, in /workspace. Files are kept after the call.',
    input: () =>
      z.strictObject({
        command: programCommand,
        args: programArguments.optional(),
        timeout: timeoutSeconds,
        ...surroundings(),
      }),
    offered: { command: 'Bash line to run.', timeout: timeoutOffered },
    platform: background,
  }),
  execute_code: contract({
    description:
      'Runs Python or Node code (types are stripped) in the sandbox and returns its output and the value of its last expression. Variables, functions and imports are kept between calls, per language. plt.show() and display(value) return images.',
    input: () =>
      z.strictObject({
        code: z
          .string()
          .min(1)
          .refine((text) => utf8Bytes(text) <= codeBytesMax, `has at most ${codeBytesMax} bytes`)
          .refine(hasNoNul, noNul),
        language: z.enum(languages),
        context: z
          .string()
          .regex(codeContextName, codeContextRule)
          .default('default')
          .describe('Name of the interpreter, made at first use. Two contexts share no variables.'),
        results: z
          .boolean()
          .default(false)
          .describe('Adds `results`, a MIME bundle each, to the structured content, instead of blocks.'),
        timeout: timeoutSeconds,
        ...surroundings(),
      }),
    offered: { code: 'Code to run.', language: '', timeout: timeoutOffered },
    platform: background,
  }),
  read_file: contract({
    description: 'Reads a text file of the workspace, or shows an image (PNG, JPEG, GIF, WebP).',
    input: () => z.object({ path: workspacePath }),
    offered: { path: pathOffered },
  }),
  write_file: contract({
    description: 'Writes a text file of the workspace; missing folders are created.',
    input: () => z.object({ path: workspacePath, content: z.string().describe('Complete new content.') }),
    offered: { path: pathOffered, content: 'Complete new text.' },
  }),
  list_files: contract({
    description: 'Lists a folder of the workspace.',
    input: () => z.object({ path: workspacePath.default('.') }),
    offered: { path: 'Path of the folder; absent: the workspace itself.' },
  }),
} as const satisfies Record<SandboxToolName, unknown>;

/** The calls by which an agent starts programs, with what the platform reads. */
export const agentPrograms = {
  execute_command: onFirstUse(() => sandboxTools.execute_command.input.extend(background)),
  execute_code: onFirstUse(() => sandboxTools.execute_code.input.extend(background)),
};
