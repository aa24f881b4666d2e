/**
 * The tasks of functions that work in the background: from the rules of EventBridge, from the scheduler, and from functions
 * that changed what such a task takes up.
 */
import * as z from 'zod';
import { isUuid, type ProjectId, type SessionId, type WorkspaceId } from '#shared/domain/ids.ts';
import { mcpNameCharactersMax, mcpSweepSecondsMax } from '#shared/domain/mcp/limits.ts';
import type { ScheduleId } from '#shared/domain/schedule/schedule.ts';
import { sweptMax } from '#shared/domain/webhook/limits.ts';
import type { WebhookId } from '#shared/domain/webhook/webhook.ts';

const correlationId = z.string().exactOptional();
const uuid = <Id extends string>() => z.custom<Id>((value) => typeof value === 'string' && isUuid(value));

export const janitorTask = z.discriminatedUnion('sweep', [
  z.object({ sweep: z.literal('due'), correlationId }),
  z.object({ sweep: z.literal('slots'), correlationId }),
  z.object({ sweep: z.literal('orphans'), correlationId }),
  /** Seals the rows of the audit log since the last seal. */
  z.object({ sweep: z.literal('seals'), correlationId }),
  /** The start of a platform whose functions are all dead. */
  z.object({ sweep: z.literal('start'), correlationId }),
  /** The end of a platform whose sandboxes end with it. */
  z.object({ sweep: z.literal('end'), correlationId }),
  z.object({ sweep: z.literal('pool'), correlationId }),
  z.object({
    sweep: z.literal('stop'),
    workspaceId: z.custom<WorkspaceId>((value) => typeof value === 'string' && value !== ''),
    correlationId,
  }),
  /** The sandbox of a session whose turn waits for a person, who has opened the prompt. */
  z.object({ sweep: z.literal('return'), sessionId: uuid<SessionId>(), correlationId }),
  /** The remains of a deleted workspace, and of a deleted project. */
  z.object({
    sweep: z.literal('workspace'),
    workspaceId: uuid<WorkspaceId>(),
    correlationId,
  }),
  z.object({
    sweep: z.literal('project'),
    project: uuid<ProjectId>(),
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
    project: uuid<ProjectId>(),
    name: z.string().min(1).max(mcpNameCharactersMax),
    correlationId,
  }),
]);

export type JanitorTask = z.output<typeof janitorTask>;

export const scheduleTask = z.union([
  z.object({ sweep: z.literal('schedules'), correlationId }),
  z.object({
    scheduleId: uuid<ScheduleId>(),
    /** The run for which the scheduler invokes. */
    runAt: z.number().int().min(0).exactOptional(),
    correlationId,
  }),
]);

export const webhookTask = z.union([
  z.object({
    sweep: z.literal('webhooks'),
    /** The public address of the deployment. */
    url: z.url().exactOptional(),
    correlationId,
  }),
  z.object({ notices: z.array(z.string().min(1)).max(sweptMax), correlationId }),
  z.object({ webhook: uuid<WebhookId>(), correlationId }),
  /** Answered synchronously, while a person waits. */
  z.object({ test: uuid<WebhookId>(), correlationId }),
]);

export const testResult = z.object({
  ok: z.boolean(),
  status: z.number().int().optional(),
  durationMs: z.number().int(),
  error: z.string().optional(),
});
