/**
 * An MCP server over stdio for agents and programs of the sandbox: the methods of the relay's socket as tools, and beside them
 * each tool of the platform under its own name.
 */
import { type CallToolResult, Server } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';
import {
  callerToolParams,
  platformCallParams,
  platformToolsParams,
  sessionEventsParams,
  sessionMessageParams,
} from '#shared/contracts/relay/method-params.ts';
import type { RelayMethod } from '#shared/contracts/relay/rpc.ts';
import { type RelayClient, RelayError } from './relay-client.ts';

type Listed = {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: { type: 'object' };
};

const described: Readonly<Record<RelayMethod, readonly [string, z.ZodType]>> = {
  session_message: [
    'Sends a message to an agent: to a new session below this one, or to one that this session started.',
    sessionMessageParams,
  ],
  session_events: ['Returns the events of this session or of one that it started.', sessionEventsParams],
  caller_tool: ['Calls a tool that a client of this session offers.', callerToolParams],
  platform_tools: ['Lists the tools of the platform that this sandbox may call.', platformToolsParams],
  platform_call_tool: ['Calls a tool of the platform.', platformCallParams],
};

const own: readonly Listed[] = Object.entries(described).map(([name, [description, params]]) => {
  const { $schema: _, ...schema } = z.toJSONSchema(params, { io: 'input' });
  return { name, description, inputSchema: { ...schema, type: 'object' } };
});

export const serveMcp = async (relay: RelayClient): Promise<void> => {
  const server = new Server({ name: 'sallyport-client', version: '0.1.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', async () => {
    const { tools } = (await relay.ask('platform_tools', {})) as { readonly tools: Listed[] };
    return { tools: [...own, ...tools] };
  });
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: input = {} } }) => {
    try {
      if (!Object.hasOwn(described, name))
        return (await relay.ask('platform_call_tool', { name, arguments: input })) as CallToolResult;
      return resultOf(await relay.ask(name, input));
    } catch (error) {
      if (!(error instanceof RelayError)) throw error;
      return { content: [{ type: 'text', text: error.message }], isError: true };
    }
  });
  const transport = new StdioServerTransport();
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
    process.stdin.once('end', resolve);
  });
  await server.connect(transport);
  await closed;
};

/** A value with content is a result already. */
const resultOf = (value: unknown): CallToolResult => {
  if (typeof value === 'object' && value !== null && 'content' in value) return value as CallToolResult;
  return {
    content: [{ type: 'text', text: JSON.stringify(value) }],
    structuredContent: value as Record<string, unknown>,
  };
};
