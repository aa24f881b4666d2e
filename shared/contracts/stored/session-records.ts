/**
 * The records of a session as the table holds them, decoded on their way in: the session with its lease and the calls that
 * run in it, the state of its turn, its conversation (waiting messages, the model's history, the clients' log), the entry
 * of the list of waiting calls, and its connections.
 */
import * as z from 'zod';
import { type LogEntry, stopReasons } from '#shared/domain/event-log.ts';
import { callOutcomes, type HistoryMessage } from '#shared/domain/history.ts';
import type {
  CallId,
  ConnectionId,
  MessageId,
  OwnerId,
  ProjectId,
  SessionId,
  TurnId,
  WorkspaceId,
} from '#shared/domain/ids.ts';
import { sessionKinds, sessionStatuses } from '#shared/domain/session.ts';
import { callStatuses, type TurnState } from '#shared/domain/turn/turn.ts';
import { principalRecord } from './access-records.ts';
import {
  agentSettings,
  approvals,
  count,
  epochMs,
  flavor,
  grants,
  id,
  jsonObject,
  provider,
  template,
  usage,
  usd,
} from './fields.ts';

export const sessionRecord = z.object({
  id: id<SessionId>(),
  owner: id<OwnerId>(),
  project: id<ProjectId>(),
  workspace: id<WorkspaceId>(),
  kind: z.enum(sessionKinds),
  title: z.string().exactOptional(),
  status: z.enum(sessionStatuses),
  flavor,
  template,
  provider,
  model: z.string(),
  approvals,
  grants,
  ...agentSettings,
  allowedTools: z.array(z.string()).exactOptional(),
  usage,
  costUsd: usd.default(0),
  depth: count,
  tree: z.object({ root: id<SessionId>(), parent: id<SessionId>() }).exactOptional(),
  hasChildren: z.literal(true).exactOptional(),
  isFleeting: z.literal(true).exactOptional(),
  allowSmallerFlavor: z.boolean(),
  createdAt: epochMs,
  lastActiveAt: epochMs,
  runningCalls: z.record(z.string(), epochMs),
  stall: z.object({ version: count, fence: count, tries: count, since: epochMs }).exactOptional(),
  dueAt: epochMs.exactOptional(),
  lastSeq: z.number().int().min(-1),
  workSeq: count,
  leaseHolder: z.string(),
  leaseFence: count,
  leaseUntil: epochMs,
});

const askedCall = z.object({ callId: id<CallId>(), name: z.string(), args: jsonObject });

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
  status: z.enum(callStatuses),
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
    stopReason: z.enum(stopReasons),
  }),
]);

export const inboxRecord = z.object({
  messageId: id<MessageId>(),
  text: z.string(),
  acceptedAt: epochMs,
  model: z.string().exactOptional(),
  connectionId: id<ConnectionId>().exactOptional(),
  correlationId: z.string(),
});

export const historyRecord: z.ZodType<HistoryMessage> = z.discriminatedUnion('role', [
  z.object({ role: z.literal('user'), messageId: id<MessageId>(), text: z.string() }),
  z.object({
    role: z.literal('assistant'),
    messageId: id<MessageId>(),
    text: z.string(),
    calls: z.array(askedCall),
    providerState: jsonObject.exactOptional(),
  }),
  z.object({
    role: z.literal('tool'),
    callId: id<CallId>(),
    name: z.string(),
    text: z.string(),
    outcome: z.enum(callOutcomes),
  }),
]);

/** The shape of `data` belongs to the writer: it was typed when it was written. */
export const logRecord = z.custom<LogEntry>(
  (value) => typeof value === 'object' && value !== null && 'type' in value && 'data' in value,
);

export const waitingRecord = z.object({
  sessionId: id<SessionId>(),
  project: id<ProjectId>(),
  owner: id<OwnerId>(),
  turnId: id<TurnId>(),
  callId: id<CallId>(),
  askedAt: z.string(),
});

export const connectionRecord = z.object({
  id: id<ConnectionId>(),
  sessionId: id<SessionId>().exactOptional(),
  principal: principalRecord,
  connectedAt: epochMs,
  since: z.number().int().min(-1).exactOptional(),
});

export const approverRecord = z.object({ id: id<ConnectionId>(), principal: principalRecord });

export const callerRecord = z.object({
  callerId: z.string(),
  /** As text: DynamoDB does not retain the order of fields, and a schema reaches the model as its client wrote it. */
  tools: z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(z.array(z.object({ name: z.string(), description: z.string(), inputSchema: jsonObject }))),
  connectionId: id<ConnectionId>().exactOptional(),
});
