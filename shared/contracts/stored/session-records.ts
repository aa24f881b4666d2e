/**
 * The records of a session as the table holds them, decoded on their way in: the session with its lease and the calls that
 * run in it, its conversation (waiting messages, the model's history, the clients' log), the entry of the list of waiting
 * calls, and its connections. `turn-records.ts` has the state of its turn.
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
import { imageTypes } from '#shared/domain/image-type.ts';
import { thinkingLevels } from '#shared/domain/model.ts';
import { agentRuntimes } from '#shared/domain/runtime-name.ts';
import { sessionKinds, sessionStatuses } from '#shared/domain/session.ts';
import { onFirstUse } from '../on-first-use.ts';
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
import { askedCall, images } from './turn-records.ts';

export const sessionRecord = onFirstUse(() =>
  z.object({
    id: id<SessionId>(),
    owner: id<OwnerId>(),
    project: id<ProjectId>(),
    workspace: id<WorkspaceId>(),
    kind: z.enum(sessionKinds),
    ...sessionDetails(),
    status: z.enum(sessionStatuses),
    flavor,
    template,
    provider,
    model: z.string(),
    approvals,
    runtime: z.enum(agentRuntimes).exactOptional(),
    grants: grants(),
    ...agentSettings(),
    allowedTools: z.array(z.string()).exactOptional(),
    usage: usage(),
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
    isSliced: z.literal(true).exactOptional(),
    slot: z.object(slotParts()).exactOptional(),
    slotOf: id<SessionId>().exactOptional(),
    trialOf: id<SessionId>().exactOptional(),
    isFleeting: z.literal(true).exactOptional(),
    environment: environmentRef().exactOptional(),
    cwd: z.string().exactOptional(),
    agent: z.string().exactOptional(),
    allowSmallerFlavor: z.boolean(),
    createdAt: epochMs,
    lastActiveAt: epochMs,
    lastStopReason: z.enum(stopReasons).exactOptional(),
    waits: z.boolean().exactOptional(),
    runningCalls: z.record(z.string(), epochMs),
    calledIn: count.exactOptional(),
    stall: z.object({ version: count, fence: count, tries: count, since: epochMs }).exactOptional(),
    dueAt: epochMs.exactOptional(),
    lastSeq: z.number().int().min(-1),
    workSeq: count,
    leaseHolder: z.string(),
    leaseFence: count,
    leaseUntil: epochMs,
  }),
);

const attachments = onFirstUse(() =>
  z.array(z.object({ path: z.string(), mimeType: z.enum(imageTypes).exactOptional() })).exactOptional(),
);

export const inboxRecord = onFirstUse(() =>
  z.object({
    messageId: id<MessageId>(),
    text: z.string(),
    acceptedAt: epochMs,
    model: z.string().exactOptional(),
    thinking: z.enum(thinkingLevels).exactOptional(),
    connectionId: id<ConnectionId>().exactOptional(),
    correlationId: z.string(),
    repeats: id<TurnId>().exactOptional(),
    parts: z.number().exactOptional(),
    attachments: attachments(),
  }),
);

export const historyRecord = onFirstUse(
  (): z.ZodType<HistoryMessage> =>
    z.discriminatedUnion('role', [
      z.object({
        role: z.literal('user'),
        messageId: id<MessageId>(),
        text: z.string(),
        attachments: attachments(),
      }),
      z.object({
        role: z.literal('assistant'),
        messageId: id<MessageId>(),
        text: z.string(),
        calls: z.array(askedCall()),
        providerState: jsonObject.exactOptional(),
      }),
      z.object({
        role: z.literal('tool'),
        callId: id<CallId>(),
        name: z.string(),
        text: z.string(),
        outcome: z.enum(callOutcomes),
        images: images().exactOptional(),
      }),
    ]),
);

/** The shape of `data` belongs to the writer: it was typed when it was written. */
export const logRecord = z.custom<LogEntry>(
  (value) => typeof value === 'object' && value !== null && 'type' in value && 'data' in value,
);

export const waitingRecord = onFirstUse(() =>
  z.object({
    sessionId: id<SessionId>(),
    project: id<ProjectId>(),
    owner: id<OwnerId>(),
    turnId: id<TurnId>(),
    callId: id<CallId>(),
    askedAt: z.string(),
  }),
);

export const connectionRecord = onFirstUse(() =>
  z.object({
    id: id<ConnectionId>(),
    sessionId: id<SessionId>().exactOptional(),
    principal: principalRecord(),
    connectedAt: epochMs,
    since: z.number().int().min(-1).exactOptional(),
    greetBy: epochMs.exactOptional(),
  }),
);

export const followerRecord = onFirstUse(() =>
  z.object({
    run: z.string(),
    offset: z.number().int().min(0),
    until: epochMs,
  }),
);

export const openedRecord = onFirstUse(() => z.object({ id: id<ConnectionId>() }));

export const approverRecord = onFirstUse(() =>
  z.object({ id: id<ConnectionId>(), principal: principalRecord() }),
);

/** The answer to a call of a caller's tool from a sandbox. */
export const callerAnswerRecord = onFirstUse(() => z.object({ text: z.string(), isError: z.boolean() }));

export const callerRecord = onFirstUse(() =>
  z.object({
    callerId: z.string(),
    /** As text: DynamoDB does not retain the order of fields, and a schema reaches the model as its client wrote it. */
    tools: z
      .string()
      .transform((text): unknown => JSON.parse(text))
      .pipe(z.array(z.object({ name: z.string(), description: z.string(), inputSchema: jsonObject }))),
    connectionId: id<ConnectionId>().exactOptional(),
    offer: z.string().exactOptional(),
  }),
);
