/**
 * What the table holds, decoded once on its way in: a record of another shape is refused, not guessed at.
 *
 * Encode-then-decode equality is a property test of every record.
 */
import * as z from 'zod';
import type { LogEntry } from '#shared/domain/event-log.ts';
import type { HistoryMessage } from '#shared/domain/history.ts';
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
import type { JsonObject } from '#shared/domain/json.ts';
import { namespacings } from '#shared/domain/mcp/naming.ts';
import type { Scope } from '#shared/domain/principal.ts';
import { approvalModes } from '#shared/domain/session.ts';
import type { TurnState } from '#shared/domain/turn/turn.ts';

const id = <Brand extends string>() => z.custom<Brand>((value) => typeof value === 'string' && value !== '');
const epochMs = z.number().int().min(0);
const count = z.number().int().min(0);
const jsonObject = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

const flavor = z.enum(['micro', 'small', 'medium', 'large']);
const template = z.enum(['python', 'node']);
const usage = z.object({
  inputTokens: count,
  outputTokens: count,
  cachedInputTokens: count.exactOptional(),
  cacheWriteInputTokens: count.exactOptional(),
});
const approvals = z.enum(approvalModes);
const usd = z.number().min(0);
const provider = z.enum(['anthropic', 'openai', 'gemini', 'demo']);
/** What a project says, and a session keeps, of its agents. */
const agentSettings = {
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

export const sessionRecord = z.object({
  id: id<SessionId>(),
  owner: id<OwnerId>(),
  project: id<ProjectId>(),
  workspace: id<WorkspaceId>(),
  kind: z.enum(['agent', 'execution']),
  title: z.string().exactOptional(),
  status: z.enum([
    'created',
    'running',
    'idle',
    'completed',
    'failed',
    'creating',
    'ready',
    'error',
    'stopped',
  ]),
  flavor,
  template,
  provider,
  model: z.string(),
  approvals,
  rememberedTools: z.array(z.string()),
  ...agentSettings,
  allowedTools: z.array(z.string()).exactOptional(),
  usage,
  costUsd: usd.default(0),
  depth: count,
  family: z.object({ root: id<SessionId>(), parent: id<SessionId>() }).exactOptional(),
  hasChildren: z.literal(true).exactOptional(),
  isFleeting: z.literal(true).exactOptional(),
  allowSmallerFlavor: z.boolean(),
  createdAt: epochMs,
  lastActiveAt: epochMs,
  runningCalls: z.record(z.string(), epochMs),
  dueAt: epochMs.exactOptional(),
  lastSeq: z.number().int().min(-1),
  workSeq: count,
  leaseHolder: z.string(),
  leaseFence: count,
  leaseUntil: epochMs,
});

export const sandboxRecord = z.object({
  generation: count,
  state: z.enum(['starting', 'ready', 'stopping', 'stopped']),
  flavor,
  template,
  requestedAt: epochMs,
  source: z.enum(['cold', 'pool']),
  warm: z.object({ slot: id<WorkspaceId>(), generation: count }).exactOptional(),
  taskArn: z.string().exactOptional(),
  address: z.string().exactOptional(),
  readyAt: epochMs.exactOptional(),
  stopRequestedAt: epochMs.exactOptional(),
  savingUntil: epochMs.exactOptional(),
  stopAskedAt: epochMs.exactOptional(),
  stoppedAt: epochMs.exactOptional(),
  stoppedReason: z.string().exactOptional(),
  lost: z.string().exactOptional(),
  restoringUntil: epochMs.exactOptional(),
  ports: z.array(z.number().int()).exactOptional(),
  logsSeen: count.exactOptional(),
});

const checkpointRecord = z.object({
  id: z.string(),
  sha256: z.string(),
  savedAt: epochMs,
  generation: count,
  files: count,
  bytes: count,
});

export const workspaceRecord = z.object({
  id: id<WorkspaceId>(),
  owner: id<OwnerId>(),
  project: id<ProjectId>(),
  createdAt: epochMs,
  users: z.array(id<SessionId>()),
  isNamed: z.literal(true).exactOptional(),
  isDefault: z.literal(true).exactOptional(),
  externalId: z.string().exactOptional(),
  source: z.string().exactOptional(),
  latestAgent: id<SessionId>().exactOptional(),
  deletedAt: epochMs.exactOptional(),
  sandbox: sandboxRecord.exactOptional(),
  checkpoint: checkpointRecord.exactOptional(),
});

export const projectRecord = z.object({
  id: id<ProjectId>(),
  owner: id<OwnerId>(),
  name: z.string(),
  description: z.string().exactOptional(),
  flavor: flavor.exactOptional(),
  template: template.exactOptional(),
  approvals: approvals.exactOptional(),
  flavorsAllowed: z.array(flavor).exactOptional(),
  provider: provider.exactOptional(),
  model: z.string().exactOptional(),
  ...agentSettings,
  createdAt: epochMs,
});

export const placeRecord = z.object({ session: id<SessionId>(), flavor, takenAt: epochMs });

/** Reservations by session. */
export const treeRecord = z.object({
  agents: count,
  spentUsd: usd,
  reserved: z.record(z.string(), z.object({ usd, fence: count, until: epochMs })),
  version: count,
});

export const sandboxLogRecord = z.object({
  lines: z.array(z.object({ at: epochMs, stream: z.enum(['stderr', 'lifecycle']), text: z.string() })),
});

/** Numbers by what they count (`domain/history-note.ts`). */
export const historyCountsRecord = z.object({ at: epochMs, ttl: count }).catchall(z.number());

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
  policy: z.object({ mode: approvals, rememberedTools: z.array(z.string()) }),
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

export const historyRecord: z.ZodType<HistoryMessage> = z.discriminatedUnion('role', [
  z.object({ role: z.literal('user'), messageId: id<MessageId>(), text: z.string() }),
  z.object({
    role: z.literal('assistant'),
    messageId: id<MessageId>(),
    text: z.string(),
    calls: z.array(askedCall),
    echo: jsonObject.exactOptional(),
  }),
  z.object({
    role: z.literal('tool'),
    callId: id<CallId>(),
    name: z.string(),
    text: z.string(),
    outcome: z.enum(['completed', 'failed', 'rejected']),
  }),
]);

/** The shape of `data` belongs to the writer: it was typed when it was written. */
export const logRecord = z.custom<LogEntry>(
  (value) => typeof value === 'object' && value !== null && 'type' in value && 'data' in value,
);

export const inboxRecord = z.object({
  messageId: id<MessageId>(),
  text: z.string(),
  acceptedAt: epochMs,
  model: z.string().exactOptional(),
  connectionId: id<ConnectionId>().exactOptional(),
  correlationId: z.string(),
});

const scope = z.custom<Scope>(
  (value) => typeof value === 'string' && /^(admin|project:[0-9a-f-]{36})(:ro)?$/.test(value),
);

export const principalRecord = z.object({
  owner: id<OwnerId>(),
  scope,
  tokenHash: z.string().min(1),
  isPerson: z.literal(true).exactOptional(),
  expiresAt: epochMs.exactOptional(),
});

export const connectionRecord = z.object({
  id: id<ConnectionId>(),
  sessionId: id<SessionId>(),
  principal: principalRecord,
  connectedAt: epochMs,
  since: z.number().int().min(-1).exactOptional(),
});

export const ticketRecord = z.object({ principal: principalRecord, expiresAt: epochMs });

/** A browser's access to one preview port. */
export const previewRecord = z.object({
  principal: principalRecord,
  sessionId: id<SessionId>(),
  port: z.number().int(),
  expiresAt: epochMs,
});

export const tokenRecord = z.object({
  id: z.string(),
  hash: z.string(),
  name: z.string(),
  scope,
  masked: z.string(),
  createdAt: epochMs,
  expiresAt: epochMs.exactOptional(),
});

export const callerRecord = z.object({
  callerId: z.string(),
  /** As text: DynamoDB keeps no order of fields, and a schema reaches the model as its client wrote it. */
  tools: z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(z.array(z.object({ name: z.string(), description: z.string(), inputSchema: jsonObject }))),
  connectionId: id<ConnectionId>().exactOptional(),
});
