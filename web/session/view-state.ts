/**
 * State of a session as a reducer: `reduce(state, event) -> state`; pages render the state.
 *
 * Pure and total. Frames of the log arrive in order and once (event-order.ts); deltas and progress arrive in any order
 * and are replaced by the log. A frame of an unknown type changes nothing.
 */
import type { ConnectionState } from '#sdk/connection.ts';
import type { Frame } from '#sdk/frames.ts';
import type { Decision } from '#sdk/routes.ts';
import type { ToolContent } from '#shared/domain/event-log.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import {
  closeCalls,
  completeArgs,
  completeOutput,
  decideCall,
  reduceCalls,
  reduceChildCalls,
  reopenDecisions,
  undecideCall,
} from './call-state.ts';
import type { AttachedFile, Item, Items, MessageChoices, Refusal } from './items.ts';
import {
  acceptQuestion,
  addAnswer,
  addDelta,
  addFailure,
  addRefusal,
  addRetry,
  addThoughts,
  addUsage,
  type CompletionData,
  endOf,
  factsAfter,
  factsOf,
  lastAnswerOf,
  noteOf,
  noUsage,
  type SandboxState,
  type SessionFacts,
  sandboxAfter,
  type Usage,
  withoutHalves,
  withoutRetry,
} from './message-state.ts';

/** The connection for the page: `polled` is one by requests, where no WebSocket opens; `offline` follows several tries, and is of the browser or of the server; `busy`: the server answers, and refuses for now; `stopped` is final until a person acts. */
export type Link =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected' }
  | { readonly kind: 'polled' }
  | { readonly kind: 'reconnecting'; readonly nextAt: number }
  | { readonly kind: 'busy'; readonly nextAt: number }
  | { readonly kind: 'offline'; readonly isServer: boolean; readonly nextAt: number }
  | {
      readonly kind: 'stopped';
      readonly code: string;
      readonly reason: string;
      /** The ways on for a person. */
      readonly suggestions: readonly string[];
    };

export type ViewState = {
  readonly link: Link;
  readonly session: SessionFacts | null;
  readonly sandbox: SandboxState;
  readonly items: Items;
  /** Accepted messages whose turn has not ended. */
  readonly openQuestions: number;
  /** Events were lost, and none since has told whether a turn goes on: the open question is that of the session's status. */
  readonly isTurnCut: boolean;
  /** Usage in the part of the log that this page has seen. */
  readonly usage: Usage;
};

export type ViewEvent =
  | { readonly type: 'link-changed'; readonly link: Link }
  | { readonly type: 'frame-received'; readonly frame: Frame }
  | {
      readonly type: 'question-sent';
      readonly messageId: string;
      readonly text: string;
      readonly attachments?: readonly AttachedFile[] | undefined;
      readonly choices?: MessageChoices | undefined;
      /** It was refused before a reload. */
      readonly refusal?: Refusal | undefined;
    }
  | { readonly type: 'question-withdrawn'; readonly messageId: string }
  | { readonly type: 'call-decided'; readonly itemId: string; readonly decision: Decision }
  | { readonly type: 'call-undecided'; readonly itemId: string }
  | { readonly type: 'child-call-decided'; readonly itemId: string }
  | { readonly type: 'args-completed'; readonly itemId: string; readonly args: JsonObject }
  | { readonly type: 'output-completed'; readonly itemId: string; readonly content: readonly ToolContent[] }
  | { readonly type: 'events-lost'; readonly oldestSeq: number };

export const initialState: ViewState = {
  link: { kind: 'connecting' },
  session: null,
  sandbox: { kind: 'none' },
  items: [],
  openQuestions: 0,
  isTurnCut: false,
  usage: noUsage,
};

export const reduce = (state: ViewState, event: ViewEvent): ViewState => {
  switch (event.type) {
    case 'link-changed':
      return { ...state, link: event.link };
    case 'frame-received':
      return reduceFrame(state, event.frame);
    case 'question-sent':
      return addItem(state, {
        ...{ kind: 'question', id: event.messageId, text: event.text },
        ...(event.refusal === undefined
          ? { delivery: 'sending' }
          : { delivery: 'refused', refusal: event.refusal }),
        ...(event.attachments === undefined ? {} : { attachments: event.attachments }),
        ...(event.choices === undefined ? {} : { choices: event.choices }),
      });
    case 'question-withdrawn':
      return { ...state, items: state.items.filter(({ id }) => id !== event.messageId) };
    case 'call-decided':
      return { ...state, items: decideCall(state.items, event.itemId, event.decision) };
    case 'call-undecided':
      return { ...state, items: undecideCall(state.items, event.itemId) };
    case 'child-call-decided':
      return { ...state, items: state.items.filter(({ id }) => id !== event.itemId) };
    case 'args-completed':
      return { ...state, items: completeArgs(state.items, event.itemId, event.args) };
    case 'output-completed':
      return { ...state, items: completeOutput(state.items, event.itemId, event.content) };
    case 'events-lost':
      return loseEvents(state, event.oldestSeq);
  }
};

/** The ends of turns that were open may be among them, and the beginning of one that goes on; the decisions on calls as well. */
const loseEvents = (state: ViewState, oldestSeq: number): ViewState => {
  const openQuestions = state.session?.status === 'running' ? 1 : 0;
  const usage = { ...state.usage, costUsd: null };
  const text = 'Older events were deleted: a session keeps its newest 1,000.';
  return addItem(
    { ...state, items: closeCalls(state.items), openQuestions, isTurnCut: true, usage },
    { kind: 'note', id: `lost-${oldestSeq}`, text, at: '' },
  );
};

/** One more than were open, where that is known: a turn begins when the one before has ended. */
const withOpenQuestion = ({ openQuestions, isTurnCut }: ViewState) => ({
  openQuestions: (isTurnCut ? 0 : openQuestions) + 1,
  isTurnCut: false,
});

const reduceFrame = (before: ViewState, frame: Frame): ViewState => {
  if (isOfChild(before, frame)) return withItems(before, reduceChildCalls(before.items, frame));
  const state = endsRetry.has(frame.type) ? withItems(before, withoutRetry(before.items)) : before;
  const id = `event-${frame.seq}`;
  switch (frame.type) {
    case 'system:ready':
      return { ...state, session: factsOf(frame.data), items: reopenDecisions(state.items) };
    case 'system':
      return reduceSystem(state, { id, at: frame.at }, frame.data);
    case 'message':
      return takeMessage(state, frame.data, frame.at);
    case 'delta':
      return withItems(state, addDelta(state.items, 'answer', frame.data));
    case 'reasoning_delta':
      return withItems(state, addDelta(state.items, 'thoughts', frame.data));
    case 'reasoning':
      return { ...state, items: addThoughts(state.items, frame.data) };
    case 'completion':
      return takeCompletion(state, { id, at: frame.at }, frame.data);
    case 'agent:error':
      return { ...state, items: addFailure(state.items, id, frame.data) };
    case 'error':
      return { ...state, items: addRefusal(state.items, frame.at, frame.data) };
    case 'tool:call':
    case 'tool:approval_required':
    case 'tool:progress':
    case 'tool:output':
    case 'tool:rejected':
    case 'tool:decided':
      return { ...state, items: reduceCalls(state.items, id, frame) };
    default:
      return state;
  }
};

const endsRetry: ReadonlySet<Frame['type']> = new Set([
  'message',
  'delta',
  'reasoning_delta',
  'completion',
  'agent:error',
  'tool:call',
]);

const isOfChild = ({ session }: ViewState, { sessionId, seq }: Frame): boolean =>
  seq === null && session !== null && sessionId !== null && sessionId !== session.sessionId;

type SystemData = Extract<Frame, { readonly type: 'system' }>['data'];

const reduceSystem = (
  state: ViewState,
  { id, at }: { readonly id: string; readonly at: string },
  data: SystemData,
): ViewState => {
  if (data.kind === 'model_retry') return withItems(state, addRetry(state.items, data));
  const text = noteOf(data);
  const next: ViewState = {
    ...state,
    sandbox: sandboxAfter(state.sandbox, data),
    session: state.session && factsAfter(state.session, data),
    ...(data.kind === 'turn_retried' ? withOpenQuestion(state) : {}),
  };
  return text === undefined ? next : addItem(next, { kind: 'note', id, text, at });
};

type MessageData = Extract<Frame, { readonly type: 'message' }>['data'];

const takeMessage = (state: ViewState, data: MessageData, at: string): ViewState =>
  data.role === 'user'
    ? { ...state, ...withOpenQuestion(state), items: acceptQuestion(state.items, data, at) }
    : { ...state, items: addAnswer(state.items, data) };

const takeCompletion = (
  state: ViewState,
  { id, at }: { readonly id: string; readonly at: string },
  data: CompletionData,
): ViewState => {
  const usage = addUsage(state.usage, data);
  const items = closeCalls(withoutHalves(state.items));
  const openQuestions = Math.max(0, state.openQuestions - 1);
  return addItem(
    { ...state, items, openQuestions, isTurnCut: false, usage },
    endOf(data, { id, at, answerId: lastAnswerOf(items), before: state.usage, after: usage }),
  );
};

const addItem = (state: ViewState, item: Item): ViewState => ({ ...state, items: [...state.items, item] });

/** The same state when nothing changed. */
const withItems = (state: ViewState, items: Items): ViewState =>
  items === state.items ? state : { ...state, items };

/** The reason of the last turn's end, when nothing came after it. */
const lastStopOf = ({ items, openQuestions }: ViewState): string | undefined => {
  const last = openQuestions === 0 ? items.findLast(({ kind }) => kind !== 'note') : undefined;
  return last?.kind === 'end' ? last.stopReason : undefined;
};

/** The last turn failed, and no message came after it. */
export const isRepeatable = (state: ViewState): boolean => lastStopOf(state) === 'error';

/** The last turn ended with the budget, which may have been changed since. */
export const isBudgetSpent = (state: ViewState): boolean => lastStopOf(state) === 'budget_exceeded';

/** A longer row of failed tries is shown as offline. */
const triesBeforeOffline = 2;

/** The server answers requests, and its WebSocket does not open. */
export const isSocketBlocked = (state: ConnectionState, isOnline: boolean): boolean =>
  state.kind === 'lost' && isOnline && state.isBlocked && state.failures > triesBeforeOffline;

export const linkOf = (state: ConnectionState, isOnline: boolean, isPolled = false): Link => {
  if (state.kind === 'ended') {
    const { code, message: reason, suggestions } = state.error;
    return { kind: 'stopped', code, reason, suggestions };
  }
  if (state.kind === 'connected') return { kind: isPolled ? 'polled' : 'connected' };
  if (state.kind !== 'lost') return state;
  const { nextAt } = state;
  if (state.isBusy) return { kind: 'busy', nextAt };
  const isAnswered = state.isBlocked && !isPolled;
  const isOffline = !isOnline || (state.failures > triesBeforeOffline && !isAnswered);
  return isOffline ? { kind: 'offline', isServer: isOnline, nextAt } : { kind: 'reconnecting', nextAt };
};
