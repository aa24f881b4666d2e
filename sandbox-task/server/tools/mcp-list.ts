/**
 * `mcp_list`: the tools of an MCP server that runs in the sandbox, started if it does not live.
 *
 * At most 500 tools and 1 MB in all; more are counted. Over its time, or cancelled, the MCP server lives on if it
 * still answers. For the platform; a model is offered the tools themselves.
 */
import * as z from 'zod';
import { mcpServerInput } from './mcp-server-input.ts';
import { defineTool, timeoutSeconds } from './tool.ts';

export const mcpListTool = defineTool({
  name: 'mcp_list',
  description: 'Lists the tools of an MCP server that is started in the sandbox and spoken to over stdio.',
  input: z.strictObject({ server: mcpServerInput, timeout: timeoutSeconds }),
  run: ({ server, timeout }, context) =>
    context.askStdio({ work: { server, ask: { type: 'list' } }, timeoutSeconds: timeout }, context),
});
