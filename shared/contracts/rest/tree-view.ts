/** A tree of sessions as REST shows it: the money of all of it, and its sessions with what each branch has spent. */
import * as z from 'zod';
import { stopReasons } from '#shared/domain/event-log.ts';
import { rootSessionOf, sessionStatuses, totalsOf } from '#shared/domain/session.ts';
import { treeUsdMaxOf } from '#shared/domain/session-tree.ts';
import { anyUsd, type Slice, sandboxMsOf } from '#shared/domain/tree-slice.ts';
import type { ShownTree } from '#shared/domain/tree-spending.ts';
import { iso } from '../fields.ts';

const count = z.number().int().min(0);
const usd = z.number().min(0);

const branch = z
  .object({
    id: z.uuid(),
    parent: z.uuid().optional().describe('Id of the session whose agent started this one.'),
    depth: count.describe('Depth in the session tree; 0 for its root.'),
    title: z.string().optional(),
    agent: z.string().optional().describe('Name of the agent that it was made with.'),
    model: z.string(),
    status: z.enum(sessionStatuses),
    needsApproval: z.boolean().describe('True: only a person can move its turn.'),
    createdAt: z.iso.datetime(),
    lastActiveAt: z.iso.datetime(),
    lastStopReason: z
      .enum(stopReasons)
      .optional()
      .describe('Why its last turn ended; absent: no turn has ended yet.'),
    inputTokens: count,
    outputTokens: count,
    costUsd: usd.describe('Cost of its own model calls, in US dollars.'),
    branchCostUsd: usd.describe('The same with those of all sessions below it.'),
    reservedUsd: usd.describe('The most that its calls on their way can cost.'),
    slice: z
      .object({
        maxCostUsd: usd.optional(),
        spentUsd: usd,
        unsettledUsd: usd,
        maxTotalTokens: count.optional().describe('Tokens of input and output.'),
        totalTokens: count,
        unsettledTokens: count.describe('The most that calls of unknown usage may have taken.'),
        maxToolCalls: count.optional(),
        toolCalls: count.describe('Calls of tools that answers of models asked for.'),
        maxSandboxSeconds: count.optional(),
        sandboxSeconds: count.describe('Of its sandboxes so far, those that live included.'),
        maxEgressBytes: count.optional(),
        egressBytes: count.describe('Exchanged with hosts outside, both ways.'),
      })
      .optional()
      .describe('Part of the budget of the tree that it was given, for itself and all below it.'),
    until: z.iso.datetime().optional().describe('Time after which it and all below it call no model.'),
  })
  .meta({ id: 'TreeSession' });

export const treeAnswer = z
  .object({
    sessionId: z.uuid(),
    root: z.uuid(),
    agents: count.describe('Agents ever started in the whole tree, its root included.'),
    maxCostUsd: usd.describe('Most that the whole tree may cost.'),
    spentUsd: usd.describe('Cost of the whole tree.'),
    reservedUsd: usd.describe('The most that calls on their way can cost.'),
    unsettledUsd: usd.describe('What calls of unknown cost may have cost: it counts as spent.'),
    sessions: z.array(branch).describe('The session first, then those below it, nearest first.'),
  })
  .meta({ id: 'SessionTree' });

export const treeView = (
  { session, money, branches, at }: ShownTree,
  operatorUsdMax: number,
): z.output<typeof treeAnswer> => ({
  sessionId: session.id,
  root: rootSessionOf(session),
  agents: money.agents,
  maxCostUsd: treeUsdMaxOf(session, operatorUsdMax),
  spentUsd: money.spentUsd,
  reservedUsd: money.reservedUsd,
  unsettledUsd: money.unsettledUsd,
  sessions: branches.map((branch) => branchView(branch, at)),
});

const branchView = (
  { session, slice, ...money }: ShownTree['branches'][number],
  at: number,
): z.output<typeof branch> => ({
  id: session.id,
  ...(session.tree === undefined ? {} : { parent: session.tree.parent }),
  depth: session.depth,
  ...(session.title === undefined ? {} : { title: session.title }),
  ...(session.agent === undefined ? {} : { agent: session.agent }),
  model: session.model,
  status: session.status,
  needsApproval: session.waits === true,
  createdAt: iso(session.createdAt),
  lastActiveAt: iso(session.lastActiveAt),
  ...(session.lastStopReason === undefined ? {} : { lastStopReason: session.lastStopReason }),
  inputTokens: totalsOf(session).usage.inputTokens,
  outputTokens: totalsOf(session).usage.outputTokens,
  ...money,
  ...(slice === undefined ? {} : { slice: sliceView(slice, at) }),
  ...(session.tree?.until === undefined ? {} : { until: iso(session.tree.until) }),
});

const sliceView = (
  { usdMax, tokensMax, toolCallsMax, sandboxMsMax, egressBytesMax, ...used }: Slice,
  at: number,
): z.output<typeof branch>['slice'] => ({
  ...(usdMax >= anyUsd ? {} : { maxCostUsd: usdMax }),
  spentUsd: used.spentUsd,
  unsettledUsd: used.unsettledUsd,
  ...(tokensMax === undefined ? {} : { maxTotalTokens: tokensMax }),
  totalTokens: used.tokens ?? 0,
  unsettledTokens: used.unsettledTokens ?? 0,
  ...(toolCallsMax === undefined ? {} : { maxToolCalls: toolCallsMax }),
  toolCalls: used.toolCalls ?? 0,
  ...(sandboxMsMax === undefined ? {} : { maxSandboxSeconds: sandboxMsMax / 1000 }),
  sandboxSeconds: Math.ceil(sandboxMsOf({ usdMax, ...used }, at) / 1000),
  ...(egressBytesMax === undefined ? {} : { maxEgressBytes: egressBytesMax }),
  egressBytes: used.egressBytes ?? 0,
});
