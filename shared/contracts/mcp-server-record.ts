/** A registered MCP server as the table holds it, decoded on its way in. */
import * as z from 'zod';
import type { ProjectId } from '#shared/domain/ids.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import {
  type McpServer,
  type McpServerConfig,
  type McpTool,
  mcpStatuses,
} from '#shared/domain/mcp/server.ts';

const texts = z.record(z.string(), z.string());
/** Counts, and epoch milliseconds. */
const natural = z.number().int().min(0);
const storedCommon = {
  description: z.string().exactOptional(),
  toolPrefix: z.string().exactOptional(),
  timeout: natural.exactOptional(),
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
  inputSchema: z.custom<JsonObject>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  ),
});

export const mcpServerRecord: z.ZodType<McpServer> = z.object({
  project: z.custom<ProjectId>((value) => typeof value === 'string' && value !== ''),
  name: z.string().min(1),
  config: storedConfig,
  isEnabled: z.boolean(),
  health: z.object({
    status: z.enum(mcpStatuses),
    lastCheck: natural.exactOptional(),
    lastSuccess: natural.exactOptional(),
    consecutiveFailures: natural,
    attempts: natural,
    error: z.string().exactOptional(),
  }),
  tools: z.array(storedTool).exactOptional(),
  createdAt: natural,
  version: natural,
});
