/** The state of a session's turn as the table holds it, decoded on its way in. */
import * as z from 'zod';
import type { CallId, MessageId, SessionId, TurnId } from '#shared/domain/ids.ts';
import type { TurnState } from '#shared/domain/turn/turn.ts';
import { approvals, count, epochMs, grants, id, jsonObject, usage, usd } from './fields.ts';

export const askedCall = z.object({ callId: id<CallId>(), name: z.string(), args: jsonObject });

const toolRoute = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['remote', 'stdio']), server: z.string(), tool: z.string() }),
  z.object({ kind: z.literal('caller'), caller: z.string(), tool: z.string() }),
  z.object({ kind: z.literal('platform'), tool: z.literal('session') }),
]);

const callWait = z.union([
  z.object({ id: z.string(), since: epochMs, until: epochMs }),
  z.object({
    id: z.string(),
    since: epochMs,
    child: z.object({ session: id<SessionId>(), message: id<MessageId>() }),
  }),
]);

const toolCall = z.object({
  ...askedCall.shape,
  // A call from before calls had these fields is decided without them.
  digest: z.string().default(''),
  askedAt: z.string().default(new Date(0).toISOString()),
  edited: z.object({ args: jsonObject, digest: z.string() }).exactOptional(),
  grant: z.string().exactOptional(),
  route: toolRoute.exactOptional(),
  status: z.enum(['pending', 'approved', 'rejected', 'executing', 'completed', 'failed']),
  askedHuman: z.boolean(),
  generation: count.exactOptional(),
  wait: callWait.exactOptional(),
});

const runningTurn = z.object({
  turnId: id<TurnId>(),
  messageId: id<MessageId>(),
  step: count,
  usage,
  spentUsd: usd.default(0),
  policy: z.object({ mode: approvals, grants }),
  repetition: z.object({ calls: z.string(), times: count }).exactOptional(),
});

export const turnState: z.ZodType<TurnState> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('idle') }),
  z.object({ kind: z.literal('thinking'), ...runningTurn.shape }),
  z.object({ kind: z.literal('deciding'), ...runningTurn.shape, calls: z.array(toolCall) }),
  z.object({ kind: z.literal('acting'), ...runningTurn.shape, calls: z.array(toolCall) }),
  z.object({
    kind: z.literal('done'),
    turnId: id<TurnId>(),
    stopReason: z.enum([
      'end_turn',
      'max_tokens',
      'cancelled',
      'error',
      'budget_exceeded',
      'steps_exceeded',
      'refused',
    ]),
  }),
]);
