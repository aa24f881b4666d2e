/**
 * What the page shows, as a reducer: `reduce(state, event) -> state`, and the page is drawn from the state.
 *
 * Pure and total. Frames of the log come in order and once (event-order.js); deltas and progress come as they
 * like, and are replaced by what the log says. A frame of a kind this page does not know changes nothing.
 * @import { StopReason } from '#shared/domain/event-log.ts'
 * @import { CallItem, Decision } from './call-state.js'
 * @import { Frame } from './connection/protocol.js'
 * @import { TextStream } from './text-stream.js'
 */
import { askAgain, decideCall, failCall, reduceCalls } from './call-state.js';
import { addPiece, emptyStream } from './text-stream.js';

/**
 * The connection, in words: `offline` is said after several tries, `stopped` is final until somebody acts.
 * @typedef {{ readonly kind: 'signed-out', readonly isRefused: boolean }
 *   | { readonly kind: 'connecting' } | { readonly kind: 'connected' } | { readonly kind: 'reconnecting' }
 *   | { readonly kind: 'offline' } | { readonly kind: 'stopped', readonly reason: string }} Link
 *
 * @typedef {{ readonly provider: string, readonly model: string, readonly status: string }} Session
 *
 * @typedef {{ readonly kind: 'question', readonly id: string, readonly text: string,
 *     readonly delivery: 'sending' | 'accepted' | 'refused' }} QuestionItem
 * @typedef {{ readonly kind: 'answer', readonly id: string, readonly text: string,
 *     readonly stream: TextStream | null }} AnswerItem
 * @typedef {{ readonly kind: 'note', readonly id: string, readonly text: string }} NoteItem
 * @typedef {{ readonly kind: 'failure', readonly id: string, readonly code: string,
 *     readonly message: string }} FailureItem
 * @typedef {{ readonly kind: 'end', readonly id: string, readonly stopReason: StopReason,
 *     readonly inputTokens: number, readonly outputTokens: number }} EndItem
 * @typedef {QuestionItem | AnswerItem | CallItem | NoteItem | FailureItem | EndItem} Item
 *
 * @typedef {{
 *   readonly link: Link,
 *   readonly session: Session | null,
 *   readonly items: readonly Item[],
 *   readonly openQuestions: number,
 * }} ViewState
 *
 * @typedef {{ readonly type: 'link-changed', readonly link: Link }
 *   | { readonly type: 'frame-received', readonly frame: Frame }
 *   | { readonly type: 'question-asked', readonly messageId: string, readonly text: string }
 *   | { readonly type: 'call-decided', readonly callId: string, readonly decision: Decision }
 *   | { readonly type: 'events-lost', readonly oldestSeq: number }
 *   | { readonly type: 'session-left' }} ViewEvent
 */

/** @type {ViewState} */
export const initialState = { link: { kind: 'connecting' }, session: null, items: [], openQuestions: 0 };

/**
 * @param {ViewState} state
 * @param {ViewEvent} event
 * @returns {ViewState}
 */
export const reduce = (state, event) => {
  switch (event.type) {
    case 'link-changed':
      return { ...state, link: event.link };
    case 'frame-received':
      return reduceFrame(state, event.frame);
    case 'question-asked':
      return addItem(state, { kind: 'question', id: event.messageId, text: event.text, delivery: 'sending' });
    case 'call-decided':
      return { ...state, items: decideCall(state.items, event.callId, event.decision) };
    case 'events-lost':
      return addItem(state, {
        kind: 'note',
        id: `lost-${event.oldestSeq}`,
        text: 'Older events of this session are no longer kept.',
      });
    case 'session-left':
      return { ...initialState, link: state.link };
  }
};

/**
 * @param {ViewState} state
 * @param {Frame} frame
 * @returns {ViewState}
 */
const reduceFrame = (state, frame) => {
  const id = `event-${frame.seq}`;
  switch (frame.type) {
    case 'system:ready':
      return { ...state, session: pickSession(frame.data), items: askAgain(state.items) };
    case 'system':
      return reduceSystem(state, id, frame.data);
    case 'message':
      return frame.data.role === 'user' ? takeQuestion(state, frame.data) : takeAnswer(state, frame.data);
    case 'delta':
      return takeDelta(state, frame.data);
    case 'completion':
      return takeCompletion(state, id, frame.data);
    case 'agent:error':
      return takeFailure(state, id, frame.data);
    case 'error':
      return takeRefusal(state, frame.at, frame.data.error);
    case 'tool:call':
    case 'tool:approval_required':
    case 'tool:progress':
    case 'tool:output':
    case 'tool:rejected':
      return { ...state, items: reduceCalls(state.items, id, frame) };
    default:
      return state;
  }
};

/**
 * @param {Session} data
 * @returns {Session}
 */
const pickSession = ({ provider, model, status }) => ({ provider, model, status });

/**
 * @param {ViewState} state
 * @param {string} id
 * @param {{ readonly kind: string, readonly [key: string]: unknown }} data
 * @returns {ViewState}
 */
const reduceSystem = (state, id, data) => {
  if (data.kind === 'session_status')
    return state.session
      ? { ...state, session: { ...state.session, status: String(data['status']) } }
      : state;
  const text = noteOf(data);
  return text === undefined ? state : addItem(state, { kind: 'note', id, text });
};

/**
 * @param {{ readonly kind: string, readonly [key: string]: unknown }} data
 * @returns {string | undefined}
 */
const noteOf = (data) => {
  switch (data.kind) {
    case 'sandbox_started':
      return `Sandbox ready in ${inSeconds(Number(data['startMs']))}`;
    case 'sandbox_stopped':
      return `Sandbox stopped: ${String(data['reason'])}`;
    case 'history_reset':
      return 'The conversation was forgotten; this log stays.';
    default:
      return undefined;
  }
};

/**
 * @param {number} durationMs
 * @returns {string}
 */
export const inSeconds = (durationMs) => `${(durationMs / 1000).toFixed(durationMs < 10_000 ? 1 : 0)} s`;

/**
 * @param {ViewState} state
 * @param {{ readonly messageId: string, readonly text: string }} data
 * @returns {ViewState}
 */
const takeQuestion = (state, { messageId, text }) => {
  const openQuestions = state.openQuestions + 1;
  const items = state.items.filter(({ id }) => id !== messageId);
  return {
    ...state,
    openQuestions,
    items: [...items, { kind: 'question', id: messageId, text, delivery: 'accepted' }],
  };
};

/**
 * @param {ViewState} state
 * @param {{ readonly messageId: string, readonly text: string }} data
 * @returns {ViewState}
 */
const takeAnswer = (state, { messageId, text }) => {
  /** @type {AnswerItem} */
  const answer = { kind: 'answer', id: messageId, text, stream: null };
  const isKnown = state.items.some(({ id }) => id === messageId);
  const items = state.items
    .filter((item) => item.id === messageId || !isHalf(item))
    .map((item) => (item.id === messageId ? answer : item));
  return { ...state, items: isKnown ? items : [...items, answer] };
};

/**
 * A half answer whose whole never came: the model was asked again, and its first try was dropped.
 * @param {Item} item
 * @returns {boolean}
 */
const isHalf = (item) => item.kind === 'answer' && item.stream !== null;

/**
 * @param {ViewState} state
 * @param {{ readonly messageId: string, readonly offset: number, readonly text: string }} data
 * @returns {ViewState}
 */
const takeDelta = (state, { messageId, offset, text }) => {
  const known = state.items.find(({ id }) => id === messageId);
  if (known !== undefined && (known.kind !== 'answer' || known.stream === null)) return state;
  const stream = addPiece(known?.stream ?? emptyStream, { offset, text });
  /** @type {AnswerItem} */
  const answer = { kind: 'answer', id: messageId, text: stream.text, stream };
  return known === undefined ? addItem(state, answer) : replaceItem(state, answer);
};

/**
 * @param {ViewState} state
 * @param {string} id
 * @param {{ readonly stopReason: StopReason,
 *   readonly usage: { readonly inputTokens: number, readonly outputTokens: number } }} data
 * @returns {ViewState}
 */
const takeCompletion = (state, id, { stopReason, usage: { inputTokens, outputTokens } }) => {
  const items = state.items.filter((item) => !isHalf(item));
  const openQuestions = Math.max(0, state.openQuestions - 1);
  return addItem(
    { ...state, items, openQuestions },
    { kind: 'end', id, stopReason, inputTokens, outputTokens },
  );
};

/**
 * @param {ViewState} state
 * @param {string} id
 * @param {{ readonly code: string, readonly message: string, readonly callId?: string }} data
 * @returns {ViewState}
 */
const takeFailure = (state, id, { code, message, callId }) => {
  const items = callId === undefined ? state.items : failCall(state.items, callId, message);
  return items === state.items ? addItem(state, { kind: 'failure', id, code, message }) : { ...state, items };
};

const refusalsOfQuestions = new Set([
  'invalid_request',
  'too_many_requests',
  'rate_limited',
  'resource_limit_exceeded',
  'payload_too_large',
  'invalid_session_state',
]);

/**
 * A refusal names no message. It is about the newest one that has not been accepted, if it can be.
 * @param {ViewState} state
 * @param {string} at
 * @param {{ readonly code: string, readonly message: string }} error
 * @returns {ViewState}
 */
const takeRefusal = (state, at, { code, message }) => {
  const refused = refusalsOfQuestions.has(code)
    ? state.items.findLast((item) => item.kind === 'question' && item.delivery === 'sending')
    : undefined;
  const marked =
    refused?.kind === 'question' ? replaceItem(state, { ...refused, delivery: 'refused' }) : state;
  return addItem(marked, { kind: 'failure', id: `refusal-${at}-${state.items.length}`, code, message });
};

/**
 * @param {ViewState} state
 * @param {Item} item
 * @returns {ViewState}
 */
const addItem = (state, item) => ({ ...state, items: [...state.items, item] });

/**
 * @param {ViewState} state
 * @param {Item} item
 * @returns {ViewState}
 */
const replaceItem = (state, item) => ({
  ...state,
  items: state.items.map((old) => (old.id === item.id ? item : old)),
});
