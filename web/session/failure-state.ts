/**
 * Reducers of failures: of a call, of a refused message, or on their own.
 *
 * Pure; used by view-state.ts.
 */
import type { ErrorFacts } from '#sdk/errors.ts';
import type { Frame } from '#sdk/frames.ts';
import { failCall } from './call-state.ts';
import type { Items } from './items.ts';

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
