/**
 * `mcp_call`: one tool of an MCP server that runs in the sandbox, started if it does not live.
 *
 * Texts are cut at 512 K characters in all, at most 8 pictures of 4 MB together, 100 blocks, 256 KB of structured
 * content. Over its time, or cancelled, the MCP server is told, and lives on if it still answers.
 */
import * as z from 'zod';
import type { JsonObject } from '#shared/domain/json.ts';
import { toolNameCharactersMax } from '../../wire/stdio-messages.ts';
import { mcpServerInput } from './mcp-server-input.ts';
import { defineTool, timeoutSeconds } from './tool.ts';

const argumentsBytesMax = 1_048_576;

export const mcpCallTool = defineTool({
  name: 'mcp_call',
  description: 'Calls a tool of an MCP server that is started in the sandbox and spoken to over stdio.',
  input: z.strictObject({
    server: mcpServerInput,
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
  run: ({ server, tool, arguments: input, timeout }, context) =>
    context.askStdio(
      {
        work: { server, ask: { type: 'call', tool, arguments: input as JsonObject } },
        timeoutSeconds: timeout,
      },
      context,
    ),
});
