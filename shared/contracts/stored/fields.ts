/**
 * The fields that records of the table share. A stored record is decoded once, on its way in: one of another
 * shape is refused, not guessed at. Encode-then-decode equality is a property test (records.prop.test.ts).
 */

import * as z from 'zod';
import { flavorNames } from '#shared/domain/flavor.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { namespacings } from '#shared/domain/mcp/server.ts';
import { providers, thinkingLevels } from '#shared/domain/model.ts';
import { deciderKinds } from '#shared/domain/principal.ts';
import { approvalModes } from '#shared/domain/session.ts';
import { templateNamePattern } from '#shared/domain/template.ts';
import { effectPolicy } from '../effect-policy.ts';
import { onFirstUse } from '../on-first-use.ts';

export const id = <Brand extends string>() =>
  z.custom<Brand>((value) => typeof value === 'string' && value !== '');

export const epochMs = z.number().int().min(0);
export const count = z.number().int().min(0);
export const jsonObject = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

export const flavor = z.enum(flavorNames);
export const template = z.string().regex(templateNamePattern);
export const usage = onFirstUse(() =>
  z.object({
    inputTokens: count,
    outputTokens: count,
    cachedInputTokens: count.exactOptional(),
    cacheWriteInputTokens: count.exactOptional(),
  }),
);
export const approvals = z.enum(approvalModes);
export const decider = onFirstUse(() =>
  z.object({
    kind: z.enum(deciderKinds),
    id: z.string(),
    name: z.string().exactOptional(),
  }),
);
/** A record from before there were grants has none: its calls wait for a decision. */
export const grants = onFirstUse(() =>
  z
    .array(
      z.object({
        id: z.string(),
        tool: z.string(),
        identity: z.string(),
        prefix: z.string().exactOptional(),
        by: decider(),
        at: epochMs,
      }),
    )
    .default([]),
);
export const usd = z.number().min(0);
export const provider = z.enum(providers);

/** Absent: no network. */
export const storedNetwork = onFirstUse(() =>
  z.object({
    allow: z.array(z.string()),
    inject: z.array(z.object({ host: z.string(), header: z.string(), secret: z.string() })).exactOptional(),
  }),
);

/** A session from before clients could choose them has none. */
export const sessionDetails = onFirstUse(() => ({
  title: z.string().exactOptional(),
  labels: z.record(z.string(), z.string()).exactOptional(),
  isArchived: z.literal(true).exactOptional(),
  idleMs: count.exactOptional(),
  lifetimeMs: count.exactOptional(),
  network: storedNetwork().exactOptional(),
  thinking: z.enum(thinkingLevels).exactOptional(),
}));

export const environmentRef = onFirstUse(() =>
  z.object({
    of: id<SessionId>(),
    names: z.array(z.string()),
    fingerprint: z.string(),
  }),
);

/** The agent settings of a project, which a session copies. */
export const agentSettings = onFirstUse(() => ({
  limits: z
    .object({
      recursionDepthMax: count.exactOptional(),
      agentsPerSessionMax: count.exactOptional(),
      costUsdMax: usd.exactOptional(),
      // Of a session alone.
      ownCostUsdMax: usd.exactOptional(),
    })
    .exactOptional(),
  effects: effectPolicy().exactOptional(),
  disabledTools: z.array(z.string()).exactOptional(),
  mcpNamespacing: z.enum(namespacings).exactOptional(),
}));
