/**
 * The records of a session as the table holds them, decoded on their way in: the session with its lease and the calls that
 * run in it, the state of its turn, its conversation (waiting messages, the model's history, the clients' log), the entry
 * of the list of waiting calls, and its connections.
 */
import * as z from 'zod';
import { effectEntryFields } from '#shared/contracts/effect-entry.ts';
import { platformTools } from '#shared/domain/asked-call.ts';
import { type LogEntry, stopReasons, type ToolContent } from '#shared/domain/event-log.ts';
import { changeKinds } from '#shared/domain/file-change.ts';
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
import { imageTypes } from '#shared/domain/image-type.ts';
import { thinkingLevels } from '#shared/domain/model.ts';
import { agentRuntimes } from '#shared/domain/runtime-name.ts';
import { sessionKinds, sessionStatuses } from '#shared/domain/session.ts';
import { callStatuses } from '#shared/domain/turn/tool-call.ts';
import type { CallTrial } from '#shared/domain/turn/trial.ts';
import type { TurnState } from '#shared/domain/turn/turn.ts';
import { effectPolicy } from '../effect-policy.ts';
import { principalRecord } from './access-records.ts';
import { slotParts } from './deployment-records.ts';
import {
  agentSettings,
  approvals,
  count,
  environmentRef,
  epochMs,
  flavor,
  grants,
  id,
  jsonObject,
  provider,
  sessionDetails,
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
  ...sessionDetails,
  status: z.enum(sessionStatuses),
  flavor,
  template,
  provider,
  model: z.string(),
  approvals,
  runtime: z.enum(agentRuntimes).exactOptional(),
  grants,
  ...agentSettings,
  allowedTools: z.array(z.string()).exactOptional(),
  usage,
  costUsd: usd.default(0),
  brokeredUsd: usd.exactOptional(),
  brokeredInputTokens: count.exactOptional(),
  brokeredOutputTokens: count.exactOptional(),
  depth: count,
  tree: z
    .object({
      root: id<SessionId>(),
      parent: id<SessionId>(),
      slices: z.array(id<SessionId>()).exactOptional(),
      until: epochMs.exactOptional(),
    })
    .exactOptional(),
  hasChildren: z.literal(true).exactOptional(),
  slot: z.object(slotParts).exactOptional(),
  slotOf: id<SessionId>().exactOptional(),
  trialOf: id<SessionId>().exactOptional(),
  isFleeting: z.literal(true).exactOptional(),
  environment: environmentRef.exactOptional(),
  cwd: z.string().exactOptional(),
  agent: z.string().exactOptional(),
  allowSmallerFlavor: z.boolean(),
  createdAt: epochMs,
  lastActiveAt: epochMs,
  lastStopReason: z.enum(stopReasons).exactOptional(),
  waits: z.boolean().exactOptional(),
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
  z.object({ kind: z.literal('platform'), tool: z.enum(platformTools) }),
  z.object({ kind: z.literal('runtime'), runtime: z.enum(agentRuntimes), question: z.string() }),
]);

const callWait = z.union([
  z.object({ id: z.string(), since: epochMs, endsBy: epochMs, notice: z.string().exactOptional() }),
  z.object({ id: z.string(), since: epochMs, until: epochMs }),
  z.object({
    id: z.string(),
    since: epochMs,
    child: z.object({ session: id<SessionId>(), message: id<MessageId>() }),
  }),
]);

const manifestRef = z.object({
  id: z.string(),
  sha256: z.string(),
  workspace: id<WorkspaceId>().exactOptional(),
});

const effect = z.object({
  files: z.array(
    z.object({
      path: z.string(),
      change: z.enum(changeKinds),
      diff: z.string().exactOptional(),
      bytes: count,
      ...effectEntryFields,
    }),
  ),
  filesLeftOut: count.exactOptional(),
  stateSha256: z.string().exactOptional(),
  exitCode: z.number().int().nullable(),
  output: z.string(),
  hosts: z.array(z.string()),
  durationMs: count,
});

const images = z.array(z.object({ mimeType: z.enum(imageTypes), data: z.string() }));

const callTrial: z.ZodType<CallTrial> = z.discriminatedUnion('state', [
  z.object({
    state: z.literal('due'),
    session: id<SessionId>().exactOptional(),
    isAgain: z.literal(true).exactOptional(),
  }),
  z.object({
    state: z.literal('tried'),
    session: id<SessionId>(),
    workspace: id<WorkspaceId>(),
    live: z.string().exactOptional(),
    before: manifestRef.exactOptional(),
    after: manifestRef.exactOptional(),
    effect,
    effectDigest: z.string(),
    outcome: z.union([
      z.object({
        content: z.array(z.custom<ToolContent>((value) => typeof value === 'object' && value !== null)),
        text: z.string(),
        images: images.exactOptional(),
        durationMs: count,
      }),
      z.object({ code: z.string(), message: z.string() }),
    ]),
  }),
  z.object({ state: z.literal('untried'), reason: z.string() }),
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
  unsent: z.object({ notice: z.string().exactOptional() }).exactOptional(),
  wait: callWait.exactOptional(),
  trial: callTrial.exactOptional(),
  rejection: z.string().exactOptional(),
});

const attachments = z
  .array(z.object({ path: z.string(), mimeType: z.enum(imageTypes).exactOptional() }))
  .exactOptional();

const runningTurn = z.object({
  turnId: id<TurnId>(),
  messageId: id<MessageId>(),
  step: count,
  usage,
  spentUsd: usd.default(0),
  policy: z.object({ mode: approvals, grants, effects: effectPolicy.exactOptional() }),
  repetition: z.object({ calls: z.string(), times: count }).exactOptional(),
  knowsLoss: z.literal(true).exactOptional(),
  unsaved: z
    .object({
      generation: count,
      areLost: z.literal(true).exactOptional(),
      isUntried: z.literal(true).exactOptional(),
    })
    .exactOptional(),
  model: z.string().exactOptional(),
  runtime: z
    .object({
      name: z.enum(agentRuntimes),
      starts: count,
      generation: count.exactOptional(),
      taken: count,
      replies: z.array(
        z.object({ permission: z.string(), approved: z.boolean(), reason: z.string().exactOptional() }),
      ),
    })
    .exactOptional(),
});

/** The newest decision of a session in the audit log. */
export const chainHead = z.object({ index: count, hash: z.string() });

export const turnState: z.ZodType<TurnState> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('idle') }),
  z.object({ kind: z.literal('thinking'), ...runningTurn.shape }),
  z.object({ kind: z.literal('deciding'), ...runningTurn.shape, calls: z.array(toolCall) }),
  z.object({ kind: z.literal('acting'), ...runningTurn.shape, calls: z.array(toolCall) }),
  z.object({
    kind: z.literal('done'),
    turnId: id<TurnId>(),
    stopReason: z.enum(stopReasons),
    failed: z.object({ messageId: id<MessageId>(), model: z.string().exactOptional() }).exactOptional(),
  }),
]);

export const inboxRecord = z.object({
  messageId: id<MessageId>(),
  text: z.string(),
  acceptedAt: epochMs,
  model: z.string().exactOptional(),
  thinking: z.enum(thinkingLevels).exactOptional(),
  connectionId: id<ConnectionId>().exactOptional(),
  correlationId: z.string(),
  repeats: id<TurnId>().exactOptional(),
  attachments,
});

export const historyRecord: z.ZodType<HistoryMessage> = z.discriminatedUnion('role', [
  z.object({ role: z.literal('user'), messageId: id<MessageId>(), text: z.string(), attachments }),
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
    images: images.exactOptional(),
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

export const followerRecord = z.object({
  run: z.string(),
  offset: z.number().int().min(0),
  until: epochMs,
});

export const openedRecord = z.object({ id: id<ConnectionId>() });

export const approverRecord = z.object({ id: id<ConnectionId>(), principal: principalRecord });

/** The answer to a call of a caller's tool from a sandbox. */
export const callerAnswerRecord = z.object({ text: z.string(), isError: z.boolean() });

export const callerRecord = z.object({
  callerId: z.string(),
  /** As text: DynamoDB does not retain the order of fields, and a schema reaches the model as its client wrote it. */
  tools: z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(z.array(z.object({ name: z.string(), description: z.string(), inputSchema: jsonObject }))),
  connectionId: id<ConnectionId>().exactOptional(),
});
