/** How the platform names an MCP server that is to run in the sandbox: the command of its registration, secrets filled in. */
import * as z from 'zod';
import { userPath } from '../user-path.ts';

const nameCharactersMax = 64;
const argumentBytesMax = 131_071;
const argumentsMax = 100;
const variablesMax = 100;
const variableCharactersMax = 32 * 1024;
const configCharactersMax = 256 * 1024;

const text = z.string().refine((value) => !value.includes('\0'), 'has no NUL character');
const argument = text.refine(
  (value) => Buffer.byteLength(value) <= argumentBytesMax,
  `has at most ${argumentBytesMax} bytes (MAX_ARG_STRLEN)`,
);

export const mcpServerInput = z
  .strictObject({
    name: z
      .string()
      .regex(/^[\w-]+$/, 'has letters, digits, hyphens and underscores')
      .max(nameCharactersMax),
    command: argument.min(1),
    args: z.array(argument).max(argumentsMax).default([]),
    env: z
      .record(
        z.string().regex(/^[A-Za-z_]\w*$/, 'is the name of a variable'),
        text.max(variableCharactersMax),
      )
      .refine((env) => Object.keys(env).length <= variablesMax, `has at most ${variablesMax} variables`)
      .default({}),
    cwd: userPath.optional(),
  })
  .refine(
    (server) => JSON.stringify(server).length <= configCharactersMax,
    `has at most ${configCharactersMax} characters`,
  );
