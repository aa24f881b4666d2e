/** A registered MCP server as the table holds it, decoded on its way in. */
import * as z from 'zod';
import type { ProjectId } from '#shared/domain/ids.ts';
import {
  type McpServer,
  type McpServerConfig,
  type McpTool,
  mcpStatuses,
} from '#shared/domain/mcp/server.ts';
import { count, epochMs, id, jsonObject } from './fields.ts';

const texts = z.record(z.string(), z.string());
const storedCommon = {
  description: z.string().exactOptional(),
  toolPrefix: z.string().exactOptional(),
  timeout: count.exactOptional(),
};

const storedConfig: z.ZodType<McpServerConfig> = z.discriminatedUnion('transport', [
  z.object({
    transport: z.enum(['http', 'sse']),
    url: z.string(),
    headers: texts.exactOptional(),
    ...storedCommon,
  }),
  z.object({
    transport: z.literal('stdio'),
    command: z.string(),
    args: z.array(z.string()).exactOptional(),
    env: texts.exactOptional(),
    cwd: z.string().exactOptional(),
    ...storedCommon,
  }),
]);

const storedTool: z.ZodType<McpTool> = z.object({
  name: z.string(),
  description: z.string().exactOptional(),
  inputSchema: jsonObject,
});

export const mcpServerRecord: z.ZodType<McpServer> = z.object({
  project: id<ProjectId>(),
  name: z.string().min(1),
  config: storedConfig,
  isEnabled: z.boolean(),
  health: z.object({
    status: z.enum(mcpStatuses),
    lastCheck: epochMs.exactOptional(),
    lastSuccess: epochMs.exactOptional(),
    consecutiveFailures: count,
    attempts: count,
    error: z.string().exactOptional(),
  }),
  tools: z.array(storedTool).exactOptional(),
  createdAt: epochMs,
  version: count,
});
