/**
 * The deployment's own records, as the table holds them: the features it uses, audit rows, points of its usage metrics, and
 * the used parts of the limits: the slots of an owner, the agents and the money of a tree.
 */
import * as z from 'zod';
import type { ProjectId, SessionId, WorkspaceId } from '#shared/domain/ids.ts';
import { onFirstUse } from '../on-first-use.ts';
import { count, decider, epochMs, flavor, id, jsonObject, usd } from './fields.ts';

export const featuresRecord = onFirstUse(() =>
  z.object({
    webhooks: z.boolean().default(false),
    mcpServers: z.boolean().default(false),
    /** The time at which an approver's socket was opened and none was known to be open, in epoch milliseconds. */
    approversSince: z.number().default(0),
    approversUntil: z.number().default(0),
  }),
);

export const auditRecord = onFirstUse(() =>
  z.object({
    at: epochMs,
    actor: decider(),
    scope: z.string(),
    action: z.string(),
    subject: z.string(),
    project: id<ProjectId>().exactOptional(),
    detail: jsonObject,
    chain: z.object({ index: count, previous: z.string() }).exactOptional(),
  }),
);

/** Numbers by measurement (`domain/usage-metrics.ts`). */
export const usageCountsRecord = onFirstUse(() => z.object({ at: epochMs, ttl: count }).catchall(z.number()));

export const slotParts = onFirstUse(() => ({
  turn: z.literal(true).exactOptional(),
  sandbox: z.object({ workspace: id<WorkspaceId>(), generation: count, flavor }).exactOptional(),
}));

export const slotRecord = onFirstUse(() =>
  z.object({
    session: id<SessionId>(),
    ...slotParts(),
    movedAt: epochMs.exactOptional(),
  }),
);

const sliceParts = onFirstUse(() =>
  z.object({
    usdMax: usd,
    spentUsd: usd,
    unsettledUsd: usd,
    tokensMax: count.optional(),
    tokens: count.optional(),
    unsettledTokens: count.optional(),
    toolCallsMax: count.optional(),
    toolCalls: count.optional(),
    sandboxMsMax: count.optional(),
    sandboxMs: count.optional(),
    sandboxes: z.record(z.string(), epochMs).optional(),
    egressBytesMax: count.optional(),
    egressBytes: count.optional(),
  }),
);

/** Reservations by session. */
export const treeRecord = onFirstUse(() =>
  z.object({
    agents: count,
    spentUsd: usd,
    unsettledUsd: usd.optional(),
    reserved: z.record(
      z.string(),
      z.object({
        usd,
        fence: count,
        until: epochMs,
        call: z.string().optional(),
        slices: z.array(id<SessionId>()).optional(),
        tokens: count.optional(),
        toolCalls: count.optional(),
      }),
    ),
    slices: z.record(z.string(), sliceParts()).optional(),
    version: count,
  }),
);
