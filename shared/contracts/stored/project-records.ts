/**
 * A project and its registered MCP servers as the table holds them, decoded on their way in.
 */
import * as z from 'zod';
import type { OwnerId, ProjectId } from '#shared/domain/ids.ts';
import {
  type McpServer,
  type McpServerConfig,
  type McpTool,
  mcpStatuses,
} from '#shared/domain/mcp/server.ts';
import { thinkingLevels } from '#shared/domain/model.ts';
import { runtimeNames } from '#shared/domain/runtime-name.ts';
import { effectPolicy } from '../effect-policy.ts';
import { onFirstUse } from '../on-first-use.ts';
import {
  agentSettings,
  approvals,
  count,
  epochMs,
  flavor,
  id,
  jsonObject,
  provider,
  storedNetwork,
  template,
} from './fields.ts';

export const projectRecord = onFirstUse(() =>
  z.object({
    id: id<ProjectId>(),
    owner: id<OwnerId>(),
    name: z.string(),
    description: z.string().exactOptional(),
    flavor: flavor.exactOptional(),
    template: template.exactOptional(),
    approvals: approvals.exactOptional(),
    flavorsAllowed: z.array(flavor).exactOptional(),
    provider: provider.exactOptional(),
    model: z.string().exactOptional(),
    thinking: z.enum(thinkingLevels).exactOptional(),
    runtime: z.enum(runtimeNames).exactOptional(),
    instructions: z.string().exactOptional(),
    agents: z
      .array(
        z.object({
          name: z.string(),
          instructions: z.string().exactOptional(),
          model: z.string().exactOptional(),
          tools: z.array(z.string()).exactOptional(),
          approvals: approvals.exactOptional(),
          effects: effectPolicy().exactOptional(),
          thinking: z.enum(thinkingLevels).exactOptional(),
        }),
      )
      .exactOptional(),
    ...agentSettings(),
    network: storedNetwork().exactOptional(),
    createdAt: epochMs,
  }),
);

/** All values of one project's secrets, as they are sealed. */
export const sealedSecrets = onFirstUse(() => z.record(z.string(), z.string()));

const texts = z.record(z.string(), z.string());
const storedCommon = onFirstUse(() => ({
  description: z.string().exactOptional(),
  toolPrefix: z.string().exactOptional(),
  timeout: count.exactOptional(),
}));

const storedConfig = onFirstUse(
  (): z.ZodType<McpServerConfig> =>
    z.discriminatedUnion('transport', [
      z.object({
        transport: z.enum(['http', 'sse']),
        url: z.string(),
        headers: texts.exactOptional(),
        ...storedCommon(),
      }),
      z.object({
        transport: z.literal('stdio'),
        command: z.string(),
        args: z.array(z.string()).exactOptional(),
        env: texts.exactOptional(),
        cwd: z.string().exactOptional(),
        ...storedCommon(),
      }),
    ]),
);

const storedTool = onFirstUse(
  (): z.ZodType<McpTool> =>
    z.object({
      name: z.string(),
      description: z.string().exactOptional(),
      inputSchema: jsonObject,
    }),
);

export const mcpServerRecord = onFirstUse(
  (): z.ZodType<McpServer> =>
    z.object({
      project: id<ProjectId>(),
      name: z.string().min(1),
      config: storedConfig(),
      isEnabled: z.boolean(),
      health: z.object({
        status: z.enum(mcpStatuses),
        lastCheck: epochMs.exactOptional(),
        lastSuccess: epochMs.exactOptional(),
        consecutiveFailures: count,
        attempts: count,
        error: z.string().exactOptional(),
        httpStatus: count.exactOptional(),
      }),
      tools: z.array(storedTool()).exactOptional(),
      createdAt: epochMs,
      version: count,
    }),
);
