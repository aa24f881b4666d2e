/**
 * What is known of a session, as a reducer: `reduce(state, event) -> state`, and pages are drawn from the state.
 *
 * Pure and total. Frames of the log come in order and once (event-order.ts); deltas and progress come as they like,
 * and are replaced by what the log says. A frame of a kind this app does not know changes nothing.
 */
import type { StopReason, ToolContent } from '#shared/domain/event-log.ts';
import type { Link } from '../connection/link.ts';
import type { Frame, Greeting, RefusalFacts } from '../connection/protocol.ts';
import {
  addChildCall,
  askAgain,
  closeCalls,
  completeOutput,
  decideCall,
  failCall,
  reduceCalls,
  undecideCall,
} from './call-state.ts';
import type { AnswerItem, Decision, Item, Items } from './items.ts';
import { noteOf, type SandboxState, sandboxAfter } from './system-events.ts';
import { addPiece, emptyStream } from './text-stream.ts';

export type SessionFacts = Pick<Greeting, 'provider' | 'model' | 'sessionId' | 'status'> & {
  readonly tools: readonly string[];
  readonly mcpServers: readonly { readonly name: string; readonly status: string }[];
};

export type Usage = { readonly inputTokens: number; readonly outputTokens: number; readonly costUsd: number };

export type ViewState = {
  readonly link: Link;
  readonly session: SessionFacts | null;
  readonly sandbox: SandboxState;
  readonly items: Items;
  /** Messages that were taken and whose turn has not ended. */
  readonly openQuestions: number;
  /** Of what was seen of the log here. */
  readonly usage: Usage;
};

export type ViewEvent =
  | { readonly type: 'link-changed'; readonly link: Link }
  | { readonly type: 'frame-received'; readonly frame: Frame }
  | { readonly type: 'question-asked'; readonly messageId: string; readonly text: string }
  | { readonly type: 'question-withdrawn'; readonly messageId: string }
  | { readonly type: 'call-decided'; readonly callId: string; readonly decision: Decision }
  | { readonly type: 'call-undecided'; readonly callId: string }
  | { readonly type: 'child-call-decided'; readonly itemId: string }
  | { readonly type: 'output-completed'; readonly itemId: string; readonly content: readonly ToolContent[] }
  | { readonly type: 'events-lost'; readonly oldestSeq: number };

export const initialState: ViewState = {
  link: { kind: 'connecting' },
  session: null,
  sandbox: { kind: 'none' },
  items: [],
  openQuestions: 0,
  usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
};

export const reduce = (state: ViewState, event: ViewEvent): ViewState => {
  switch (event.type) {
    case 'link-changed':
      return { ...state, link: event.link };
    case 'frame-received':
      return reduceFrame(state, event.frame);
    case 'question-asked':
      return addItem(state, { kind: 'question', id: event.messageId, text: event.text, delivery: 'sending' });
    case 'question-withdrawn':
      return { ...state, items: state.items.filter(({ id }) => id !== event.messageId) };
    case 'call-decided':
      return { ...state, items: decideCall(state.items, event.callId, event.decision) };
    case 'call-undecided':
      return { ...state, items: undecideCall(state.items, event.callId) };
    case 'child-call-decided':
      return { ...state, items: state.items.filter(({ id }) => id !== event.itemId) };
    case 'output-completed':
      return { ...state, items: completeOutput(state.items, event.itemId, event.content) };
    case 'events-lost':
      return addItem(state, {
        kind: 'note',
        id: `lost-${event.oldestSeq}`,
        text: 'Older events were purged: a session keeps its newest 1,000.',
        at: '',
      });
  }
};

const reduceFrame = (state: ViewState, frame: Frame): ViewState => {
  if (isOfChild(state, frame))
    return frame.type === 'tool:approval_required' && frame.sessionId !== undefined
      ? { ...state, items: addChildCall(state.items, frame.sessionId, frame.data) }
      : state;
  const id = `event-${frame.seq}`;
  switch (frame.type) {
    case 'system:ready':
      return { ...state, session: pickSession(frame.data), items: askAgain(state.items) };
    case 'system':
      return reduceSystem(state, { id, at: frame.at }, frame.data);
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

const isOfChild = ({ session }: ViewState, { sessionId, seq }: Frame): boolean =>
  seq === null && session !== null && sessionId !== undefined && sessionId !== session.sessionId;

const pickSession = ({
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

type SystemData = Extract<Frame, { readonly type: 'system' }>['data'];

const reduceSystem = (
  state: ViewState,
  { id, at }: { readonly id: string; readonly at: string },
  data: SystemData,
): ViewState => {
  const { session } = state;
  const status = data.kind === 'session_status' ? String(data['status']) : session?.status;
  const text = noteOf(data);
  const told: ViewState = {
    ...state,
    sandbox: sandboxAfter(state.sandbox, data),
    session: session && { ...session, status: status ?? session.status },
  };
  return text === undefined ? told : addItem(told, { kind: 'note', id, text, at });
};

type MessageData = Extract<Frame, { readonly type: 'message' }>['data'];

const takeQuestion = (state: ViewState, { messageId, text }: MessageData): ViewState => {
  const items = withoutItem(state.items, messageId);
  return {
    ...state,
    openQuestions: state.openQuestions + 1,
    items: [...items, { kind: 'question', id: messageId, text, delivery: 'accepted' }],
  };
};

const takeAnswer = (state: ViewState, { messageId, text }: MessageData): ViewState => {
  const answer: AnswerItem = { kind: 'answer', id: messageId, text, stream: null };
  const index = state.items.findLastIndex(({ id }) => id === messageId);
  const items = withoutHalves(index === -1 ? state.items : state.items.with(index, answer));
  // A model that only calls tools says nothing.
  return { ...state, items: index !== -1 || text === '' ? items : [...items, answer] };
};

/** A half answer whose whole never came: the model was asked again, and its first try was dropped. */
const isHalf = (item: Item): boolean => item.kind === 'answer' && item.stream !== null;

const withoutHalves = (items: Items): Items =>
  items.findLastIndex(isHalf) === -1 ? items : items.filter((item) => !isHalf(item));

const withoutItem = (items: Items, id: string): Items =>
  items.findLastIndex((item) => item.id === id) === -1 ? items : items.filter((item) => item.id !== id);

const takeDelta = (
  state: ViewState,
  { messageId, offset, text }: { readonly messageId: string; readonly offset: number; readonly text: string },
): ViewState => {
  const index = state.items.findLastIndex(({ id }) => id === messageId);
  const known = state.items[index];
  if (known !== undefined && (known.kind !== 'answer' || known.stream === null)) return state;
  const stream = addPiece(known?.stream ?? emptyStream, { offset, text });
  const answer: AnswerItem = { kind: 'answer', id: messageId, text: stream.text, stream };
  return known === undefined ? addItem(state, answer) : { ...state, items: state.items.with(index, answer) };
};

type CompletionData = {
  readonly stopReason: StopReason;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
  readonly sessionCostUsd?: number;
};

const takeCompletion = (
  state: ViewState,
  id: string,
  { stopReason, usage: { inputTokens, outputTokens }, sessionCostUsd }: CompletionData,
): ViewState => {
  const costUsd = sessionCostUsd ?? state.usage.costUsd;
  const turnCostUsd = Math.max(0, costUsd - state.usage.costUsd);
  const usage = {
    inputTokens: state.usage.inputTokens + inputTokens,
    outputTokens: state.usage.outputTokens + outputTokens,
    costUsd,
  };
  const items = closeCalls(withoutHalves(state.items));
  const openQuestions = Math.max(0, state.openQuestions - 1);
  return addItem(
    { ...state, items, openQuestions, usage },
    { kind: 'end', id, stopReason, inputTokens, outputTokens, costUsd: turnCostUsd },
  );
};

type FailureData = Extract<Frame, { readonly type: 'agent:error' }>['data'];

const takeFailure = (state: ViewState, id: string, { code, message, callId }: FailureData): ViewState => {
  const items = callId === undefined ? state.items : failCall(state.items, callId, { code, message });
  return items === state.items
    ? addItem(state, { kind: 'failure', id, code, message, suggestions: [] })
    : { ...state, items };
};

const refusalsOfQuestions = new Set([
  'invalid_request',
  'too_many_requests',
  'rate_limited',
  'resource_limit_exceeded',
  'payload_too_large',
  'invalid_session_state',
]);

/** A refusal names no message. It is about the newest one that has not been accepted, if it can be. */
const takeRefusal = (
  state: ViewState,
  at: string,
  { code, message, suggestions = [] }: RefusalFacts,
): ViewState => {
  const index = refusalsOfQuestions.has(code)
    ? state.items.findLastIndex((item) => item.kind === 'question' && item.delivery === 'sending')
    : -1;
  const refused = state.items[index];
  const items =
    refused?.kind === 'question' ? state.items.with(index, { ...refused, delivery: 'refused' }) : state.items;
  const id = `refusal-${at}-${state.items.length}`;
  return addItem({ ...state, items }, { kind: 'failure', id, code, message, suggestions });
};

const addItem = (state: ViewState, item: Item): ViewState => ({ ...state, items: [...state.items, item] });
