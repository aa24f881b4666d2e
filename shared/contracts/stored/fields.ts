/**
 * The fields that records of the table share. A stored record is decoded once, on its way in: one of another
 * shape is refused, not guessed at. Encode-then-decode equality is a property test (records.prop.test.ts).
 */

import * as z from 'zod';
import { flavorNames, templates } from '#shared/domain/flavor.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { namespacings } from '#shared/domain/mcp/server.ts';
import { providers } from '#shared/domain/model.ts';
import { deciderKinds } from '#shared/domain/principal.ts';
import { approvalModes } from '#shared/domain/session.ts';

export const id = <Brand extends string>() =>
  z.custom<Brand>((value) => typeof value === 'string' && value !== '');

export const epochMs = z.number().int().min(0);
export const count = z.number().int().min(0);
export const jsonObject = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

export const flavor = z.enum(flavorNames);
export const template = z.enum(templates);
export const usage = z.object({
  inputTokens: count,
  outputTokens: count,
  cachedInputTokens: count.exactOptional(),
  cacheWriteInputTokens: count.exactOptional(),
});
export const approvals = z.enum(approvalModes);
export const decider = z.object({
  kind: z.enum(deciderKinds),
  id: z.string(),
  name: z.string().exactOptional(),
});
/** A record from before there were grants has none: its calls wait for a decision. */
export const grants = z
  .array(
    z.object({
      id: z.string(),
      tool: z.string(),
      identity: z.string(),
      prefix: z.string().exactOptional(),
      by: decider,
      at: epochMs,
    }),
  )
  .default([]);
export const usd = z.number().min(0);
export const provider = z.enum(providers);

/** The agent settings of a project, which a session copies. */
export const agentSettings = {
  limits: z
    .object({
      recursionDepthMax: count.exactOptional(),
      agentsPerSessionMax: count.exactOptional(),
      costUsdMax: usd.exactOptional(),
    })
    .exactOptional(),
  disabledTools: z.array(z.string()).exactOptional(),
  mcpNamespacing: z.enum(namespacings).exactOptional(),
};
