/**
 * Reducers of messages and turns: questions, answers, failures, and the usage of a finished turn.
 *
 * Pure; used by view-state.ts. A delta of a complete answer changes nothing.
 */
import type { ErrorFacts } from '#sdk/errors.ts';
import type { Frame } from '#sdk/frames.ts';
import type { StopReason } from '#shared/domain/event-log.ts';
import { failCall } from './call-state.ts';
import type { AnswerItem, EndItem, Item, Items } from './items.ts';
import { addPiece, emptyStream, type Piece } from './text-stream.ts';

type MessageData = Extract<Frame, { readonly type: 'message' }>['data'];

/** Moves the question to its position in the log. */
export const acceptQuestion = (items: Items, { messageId, text }: MessageData): Items => [
  ...withoutItem(items, messageId),
  { kind: 'question', id: messageId, text, delivery: 'accepted' },
];

export const addAnswer = (items: Items, { messageId, text }: MessageData): Items => {
  const answer: AnswerItem = { kind: 'answer', id: messageId, text, stream: null };
  const index = items.findLastIndex(({ id }) => id === messageId);
  const whole = withoutHalves(index === -1 ? items : items.with(index, answer));
  // A model that only calls tools sends no text.
  return index !== -1 || text === '' ? whole : [...whole, answer];
};

export const addDelta = (
  items: Items,
  { messageId, offset, text }: Piece & { readonly messageId: string },
): Items => {
  const index = items.findLastIndex(({ id }) => id === messageId);
  const known = items[index];
  if (known !== undefined && (known.kind !== 'answer' || known.stream === null)) return items;
  const stream = addPiece(known?.stream ?? emptyStream, { offset, text });
  const answer: AnswerItem = { kind: 'answer', id: messageId, text: stream.text, stream };
  return known === undefined ? [...items, answer] : items.with(index, answer);
};

/** A streamed answer that was never completed: the model was called again and its first attempt dropped. */
const isHalf = (item: Item): boolean => item.kind === 'answer' && item.stream !== null;

export const withoutHalves = (items: Items): Items =>
  items.findLastIndex(isHalf) === -1 ? items : items.filter((item) => !isHalf(item));

const withoutItem = (items: Items, id: string): Items =>
  items.findLastIndex((item) => item.id === id) === -1 ? items : items.filter((item) => item.id !== id);

type FailureData = Extract<Frame, { readonly type: 'agent:error' }>['data'];

/** A failed call shows its own error. */
export const addFailure = (items: Items, id: string, { code, message, callId }: FailureData): Items => {
  const next = callId === undefined ? items : failCall(items, callId, { code, message });
  return next === items ? [...items, { kind: 'failure', id, code, message, suggestions: [] }] : next;
};

export const addRefusal = (
  items: Items,
  at: string,
  { code, message, suggestions = [] }: ErrorFacts,
): Items => {
  const id = `refusal-${at}-${items.length}`;
  return [...refuseQuestion(items, code), { kind: 'failure', id, code, message, suggestions }];
};

const refusalsOfQuestions = new Set([
  'invalid_request',
  'too_many_requests',
  'rate_limited',
  'resource_limit_exceeded',
  'payload_too_large',
  'invalid_session_state',
]);

/** A refusal names no message: it applies to the newest unaccepted one, if its code can. */
const refuseQuestion = (items: Items, code: string): Items => {
  const index = refusalsOfQuestions.has(code)
    ? items.findLastIndex((item) => item.kind === 'question' && item.delivery === 'sending')
    : -1;
  const refused = items[index];
  return refused?.kind === 'question' ? items.with(index, { ...refused, delivery: 'refused' }) : items;
};

export type Usage = { readonly inputTokens: number; readonly outputTokens: number; readonly costUsd: number };

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

/** The end of a turn. The log has the cost of the session: the cost before the turn is subtracted. */
export const endOf = (
  { stopReason, usage: { inputTokens, outputTokens } }: CompletionData,
  { id, before, after }: { readonly id: string; readonly before: Usage; readonly after: Usage },
): EndItem => ({
  kind: 'end',
  id,
  stopReason,
  inputTokens,
  outputTokens,
  costUsd: Math.max(0, after.costUsd - before.costUsd),
});
