/** The used parts of the limits, as the table holds them: the slots of an owner, the agents and the money of a tree. */
import * as z from 'zod';
import type { SessionId } from '#shared/domain/ids.ts';
import { count, epochMs, flavor, id, usd } from './fields.ts';

export const slotRecord = z.object({ session: id<SessionId>(), flavor, takenAt: epochMs });

/** Reservations by session. */
export const treeRecord = z.object({
  agents: count,
  spentUsd: usd,
  reserved: z.record(z.string(), z.object({ usd, fence: count, until: epochMs })),
  version: count,
});
