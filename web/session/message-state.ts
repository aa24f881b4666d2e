/**
 * Reducers of everything but calls: messages, failures, the usage of a turn, session facts, and the state of the sandbox.
 *
 * Pure; used by view-state.ts. A delta of a complete answer changes nothing, and an unknown system event gives no note.
 */
import type { ErrorFacts } from '#sdk/errors.ts';
import type { Frame, Greeting } from '#sdk/frames.ts';
import type { StopReason } from '#shared/domain/event-log.ts';
import type { Json } from '#shared/domain/json.ts';
import { duration, money } from '../components/format.ts';
import { failCall } from './call-state.ts';
import type { AnswerItem, EndItem, Item, Items, ThoughtsItem } from './items.ts';
import { addPiece, emptyStream, type Piece } from './text-stream.ts';

type MessageData = Extract<Frame, { readonly type: 'message' }>['data'];

/** Moves the question to its position in the log. */
export const acceptQuestion = (
  items: Items,
  { messageId, text, attachments }: MessageData,
  at: string,
): Items => [
  ...withoutItem(items, messageId),
  {
    ...{ kind: 'question', id: messageId, text, delivery: 'accepted', at },
    ...(attachments === undefined ? {} : { attachments }),
  },
];

export const addAnswer = (items: Items, { messageId, text, partial }: MessageData): Items => {
  const whole: AnswerItem = { kind: 'answer', id: messageId, text, stream: null };
  const answer: AnswerItem = partial === undefined ? whole : { ...whole, isPartial: true };
  const index = items.findLastIndex(({ id }) => id === messageId);
  const complete = withoutHalves(index === -1 ? items : items.with(index, answer));
  // A model that only calls tools sends no text.
  return index !== -1 || text === '' ? complete : [...complete, answer];
};

const thoughtsId = (messageId: string): string => `thoughts-${messageId}`;

/** Before their answer, of which pieces may have come first. */
export const addThoughts = (
  items: Items,
  { messageId, text, truncated }: Extract<Frame, { readonly type: 'reasoning' }>['data'],
): Items => {
  const id = thoughtsId(messageId);
  const others = withoutItem(items, id);
  const answer = others.findLastIndex((item) => item.id === messageId);
  const whole: ThoughtsItem = { kind: 'thoughts', id, text, stream: null, isPartial: truncated };
  return others.toSpliced(answer === -1 ? others.length : answer, 0, whole);
};

export const addDelta = (
  items: Items,
  kind: 'answer' | 'thoughts',
  { messageId, offset, text }: Piece & { readonly messageId: string },
): Items => {
  const id = kind === 'answer' ? messageId : thoughtsId(messageId);
  const index = items.findLastIndex((item) => item.id === id);
  const known = items[index];
  if (known !== undefined && (known.kind !== kind || known.stream === null)) return items;
  const stream = addPiece(known?.stream ?? emptyStream, { offset, text });
  const item: AnswerItem | ThoughtsItem = { kind, id, text: stream.text, stream };
  if (known !== undefined) return items.with(index, item);
  return [...(kind === 'answer' ? withEndOfThoughts(items, messageId) : items), item];
};

const withEndOfThoughts = (items: Items, messageId: string): Items => {
  const index = items.findLastIndex(({ id }) => id === thoughtsId(messageId));
  const thoughts = items[index];
  return thoughts?.kind === 'thoughts' ? items.with(index, { ...thoughts, isOver: true }) : items;
};

/** A streamed answer that was never completed: the model was called again and its first attempt dropped. */
const isHalf = (item: Item): boolean => 'stream' in item && item.stream !== null;

export const withoutHalves = (items: Items): Items =>
  items.findLastIndex(isHalf) === -1 ? items : items.filter((item) => !isHalf(item));

const withoutItem = (items: Items, id: string): Items =>
  items.findLastIndex((item) => item.id === id) === -1 ? items : items.filter((item) => item.id !== id);

type FailureData = Extract<Frame, { readonly type: 'agent:error' }>['data'];

/** A failed call shows its own error. */
export const addFailure = (items: Items, id: string, data: FailureData): Items => {
  const { code, message, callId, provider, attempt = 1, retryAt } = data;
  const next = callId === undefined ? items : failCall(items, callId, { code, message });
  if (next !== items) return next;
  const failure = { kind: 'failure', id, code, message, suggestions: [] } as const;
  if (provider === undefined) return [...items, failure];
  const origin = { provider, attempt, ...(retryAt === undefined ? {} : { retryAt }) };
  return [...items, { ...failure, origin }];
};

/** At most one: the newest wait. */
export const addRetry = (items: Items, data: SystemData): Items => [
  ...withoutRetry(items),
  {
    kind: 'retry',
    id: `retry-${String(data['retryAt'])}`,
    message: String(data['message']),
    provider: String(data['provider']),
    attempt: Number(data['attempt']),
    retryAt: String(data['retryAt']),
  },
];

/** The wait is over when anything else happens. */
export const withoutRetry = (items: Items): Items =>
  items.findLastIndex(({ kind }) => kind === 'retry') === -1
    ? items
    : items.filter(({ kind }) => kind !== 'retry');

type RefusalData = { readonly error: ErrorFacts; readonly messageId?: string | undefined };

/** A refused message has its reason; a refusal of anything else is an item of its own. */
export const addRefusal = (items: Items, at: string, { error, messageId }: RefusalData): Items => {
  const { code, message, suggestions = [] } = error;
  const index = refusedQuestion(items, code, messageId);
  const refused = items[index];
  if (refused?.kind === 'question')
    return items.with(index, { ...refused, delivery: 'refused', refusal: { code, message, suggestions } });
  const id = `refusal-${at}-${items.length}`;
  return [...items, { kind: 'failure', id, code, message, suggestions }];
};

const refusalsOfQuestions = new Set([
  'invalid_request',
  'too_many_requests',
  'rate_limited',
  'resource_limit_exceeded',
  'payload_too_large',
  'invalid_session_state',
]);

/** A refusal that names no message applies to the newest unaccepted one, if its code can. */
const refusedQuestion = (items: Items, code: string, messageId?: string): number =>
  items.findLastIndex(
    (item) =>
      item.kind === 'question' &&
      item.delivery === 'sending' &&
      (messageId === undefined ? refusalsOfQuestions.has(code) : item.id === messageId),
  );

export type Usage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of the session so far; null while events that had it are lost. */
  readonly costUsd: number | null;
};

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };

export type CompletionData = {
  readonly stopReason: StopReason;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
  readonly sessionCostUsd?: number;
};

export const addUsage = (before: Usage, { usage, sessionCostUsd }: CompletionData): Usage => ({
  inputTokens: before.inputTokens + usage.inputTokens,
  outputTokens: before.outputTokens + usage.outputTokens,
  costUsd: sessionCostUsd ?? before.costUsd,
});

/** The end of a turn. The log has the cost of the session: the cost before the turn is subtracted, and none is shown without it. */
export const endOf = (
  { stopReason, usage: { inputTokens, outputTokens } }: CompletionData,
  { id, at, answerId, before, after }: Ended,
): EndItem => ({
  kind: 'end',
  id,
  stopReason,
  inputTokens,
  outputTokens,
  costUsd: Math.max(0, (after.costUsd ?? 0) - (before.costUsd ?? after.costUsd ?? 0)),
  at,
  answerId: stopReason === 'end_turn' ? answerId : undefined,
});

type Ended = Pick<EndItem, 'id' | 'at' | 'answerId'> & { readonly before: Usage; readonly after: Usage };

/** The last answer of the turn; undefined when it ended with a call or without a text. */
export const lastAnswerOf = (items: Items): string | undefined => {
  const last = items.findLast(({ kind }) => kind !== 'note' && kind !== 'retry');
  return last?.kind === 'answer' ? last.id : undefined;
};

type SystemData = { readonly kind: string; readonly [key: string]: Json };

export type SessionFacts = Pick<Greeting, 'provider' | 'model' | 'sessionId' | 'status'> & {
  readonly tools: readonly string[];
  readonly mcpServers: readonly { readonly name: string; readonly status: string }[];
};

export const factsOf = ({
  provider,
  model,
  sessionId,
  status,
  tools = [],
  mcpServers = [],
}: Greeting): SessionFacts => ({
  provider,
  model,
  sessionId,
  status,
  tools,
  mcpServers,
});

export const factsAfter = (facts: SessionFacts, data: SystemData): SessionFacts => ({
  ...facts,
  status: data.kind === 'session_status' ? String(data['status']) : facts.status,
});

export type SandboxState =
  | { readonly kind: 'none' }
  | { readonly kind: 'ready'; readonly startMs: number; readonly source: string }
  | { readonly kind: 'stopped'; readonly reason: string; readonly savedAt: string | null };

export const sandboxAfter = (before: SandboxState, data: SystemData): SandboxState => {
  if (data.kind === 'sandbox_started')
    return { kind: 'ready', startMs: Number(data['startMs']), source: String(data['source']) };
  if (data.kind !== 'sandbox_stopped') return before;
  const savedAt = data['savedAt'];
  return {
    kind: 'stopped',
    reason: String(data['reason']),
    savedAt: typeof savedAt === 'string' ? savedAt : null,
  };
};

export const noteOf = (data: SystemData): string | undefined => {
  switch (data.kind) {
    case 'sandbox_started':
      return `Sandbox ready in ${duration(Number(data['startMs']))}${data['source'] === 'pool' ? ', from the pool' : ''}`;
    case 'sandbox_stopped':
      return `Sandbox stopped: ${String(data['reason'])}${lostProcesses(data)}`;
    case 'workspace_restored':
      return restoredNote(data);
    case 'workspace_not_saved':
      return `Workspace not saved: ${String(data['reason'])}`;
    case 'shared_not_saved':
      return `Shared volume not saved: ${String(data['reason'])}`;
    case 'runtime_restarted':
      return 'The sandbox was lost. The agent continues in a new sandbox with the last saved files';
    case 'budget_changed':
      return `Budget changed to ${money(Number(data['maxCostUsd']))}`;
    case 'history_reset':
      return 'Conversation cleared. This log stays.';
    case 'session_branched':
      return `Branched from session ${String(data['sessionId']).slice(0, 8)}`;
    case 'turn_retried':
      return 'Trying again';
    case 'mcp_status':
      return `MCP server ${String(data['name'])} is ${String(data['status'])}`;
    case 'child_asked':
      return `Delegated to child session ${String(data['sessionId']).slice(0, 8)}`;
    case 'session_status':
      return `Session ${String(data['status'])}`;
    default:
      return undefined;
  }
};

const lostProcesses = (data: SystemData): string =>
  typeof data['lostProcesses'] === 'number' ? `; processes lost: ${data['lostProcesses']}` : '';

const restoredNote = (data: SystemData): string => {
  const missing = Array.isArray(data['missing']) ? data['missing'].map(String) : [];
  if (typeof data['refused'] === 'string') return `Workspace not restored: ${data['refused']}`;
  const back = `Workspace restored: ${String(data['files'])} files`;
  return missing.length === 0 ? back : `${back}; missing: ${missing.join(', ')}`;
};
