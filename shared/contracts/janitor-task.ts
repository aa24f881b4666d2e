/**
 * The tasks of the janitor: from the rules of EventBridge, and from functions that marked a sandbox or changed a
 * server.
 */
import * as z from 'zod';
import { isUuid, type ProjectId, type WorkspaceId } from '#shared/domain/ids.ts';
import { mcpNameCharactersMax, mcpSweepSecondsMax } from '#shared/domain/mcp/limits.ts';

const correlationId = z.string().exactOptional();

export const janitorTask = z.discriminatedUnion('sweep', [
  z.object({ sweep: z.literal('due'), correlationId }),
  z.object({ sweep: z.literal('slots'), correlationId }),
  z.object({ sweep: z.literal('orphans'), correlationId }),
  z.object({ sweep: z.literal('pool'), correlationId }),
  z.object({
    sweep: z.literal('stop'),
    workspaceId: z.custom<WorkspaceId>((value) => typeof value === 'string' && value !== ''),
    correlationId,
  }),
  /** The remains of a deleted workspace, and of a deleted project. */
  z.object({
    sweep: z.literal('workspace'),
    workspaceId: z.custom<WorkspaceId>((value) => typeof value === 'string' && isUuid(value)),
    correlationId,
  }),
  z.object({
    sweep: z.literal('project'),
    project: z.custom<ProjectId>((value) => typeof value === 'string' && isUuid(value)),
    correlationId,
  }),
  /** Checks the registered MCP servers that are due, and waits for those that become due in these seconds. */
  z.object({
    sweep: z.literal('mcp'),
    forSeconds: z.number().int().min(0).max(mcpSweepSecondsMax).exactOptional(),
    correlationId,
  }),
  z.object({
    sweep: z.literal('mcp-server'),
    project: z.custom<ProjectId>((value) => typeof value === 'string' && isUuid(value)),
    name: z.string().min(1).max(mcpNameCharactersMax),
    correlationId,
  }),
]);

export type JanitorTask = z.output<typeof janitorTask>;
