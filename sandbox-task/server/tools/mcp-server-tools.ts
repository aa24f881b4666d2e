/**
 * `mcp_list` and `mcp_call`: the tools of an MCP server that runs in the sandbox, which is started if it is not running.
 *
 * For the platform alone; a model is offered the MCP server's own tools. A list has at most 500 tools and 1 MB, and
 * the rest is counted. An answer has 512 K characters of text, 8 images with 4 MB together, 100 blocks and 256 KB of
 * structured content. A call that times out or is cancelled is withdrawn, and the MCP server lives on if it answers.
 */
import * as z from 'zod';
import { programArgument, timeoutSeconds, workspacePath } from '#shared/contracts/tools/sandbox-tools.ts';
import { hasNoNul } from '#shared/contracts/tools/tool-fields.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { serverNameCharactersMax, toolNameCharactersMax } from '../../wire/stdio-messages.ts';
import { defineTool } from './tool.ts';

const argumentsBytesMax = 1_048_576;
const processArgumentsMax = 100;
const variablesMax = 100;
const variableCharactersMax = 32 * 1024;
const configCharactersMax = 256 * 1024;

/** The configuration of a registered MCP server, with its secrets. */
const server = z
  .strictObject({
    name: z
      .string()
      .regex(/^[\w-]+$/, 'has letters, digits, hyphens and underscores')
      .max(serverNameCharactersMax),
    command: programArgument.min(1),
    args: z.array(programArgument).max(processArgumentsMax).default([]),
    env: z
      .record(
        z.string().regex(/^[A-Za-z_]\w*$/, 'is the name of a variable'),
        z.string().max(variableCharactersMax).refine(hasNoNul, 'has no NUL character'),
      )
      .refine((env) => Object.keys(env).length <= variablesMax, `has at most ${variablesMax} variables`)
      .default({}),
    cwd: workspacePath.optional(),
  })
  .refine(
    (config) => JSON.stringify(config).length <= configCharactersMax,
    `has at most ${configCharactersMax} characters`,
  );

export const mcpListTool = defineTool({
  name: 'mcp_list',
  contract: {
    description: 'Lists the tools of an MCP server that is started in the sandbox and spoken to over stdio.',
    input: z.strictObject({ server, timeout: timeoutSeconds }),
  },
  run: (input, context) =>
    context.askStdio(
      { work: { server: input.server, ask: { type: 'list' } }, timeoutSeconds: input.timeout },
      context,
    ),
});

export const mcpCallTool = defineTool({
  name: 'mcp_call',
  contract: {
    description: 'Calls a tool of an MCP server that is started in the sandbox and spoken to over stdio.',
    input: z.strictObject({
      server,
      tool: z.string().min(1).max(toolNameCharactersMax),
      arguments: z
        .record(z.string(), z.json())
        .refine(
          (input) => Buffer.byteLength(JSON.stringify(input)) <= argumentsBytesMax,
          `have at most ${argumentsBytesMax} bytes`,
        )
        .default({}),
      timeout: timeoutSeconds,
    }),
  },
  run: ({ tool, arguments: input, timeout, ...given }, context) =>
    context.askStdio(
      {
        work: { server: given.server, ask: { type: 'call', tool, arguments: input as JsonObject } },
        timeoutSeconds: timeout,
      },
      context,
    ),
});
