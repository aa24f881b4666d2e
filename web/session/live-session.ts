/**
 * The open session of this tab and its connection, which outlive navigation between pages.
 *
 * Frames are reduced at once and rendered at a limited pace (pace.ts), so that a flood costs few renderings.
 */

import { computed, type ShallowRef, shallowRef, watch } from 'vue';
import { isSettled } from '#sdk/approvals.ts';
import type { ClientAction, Frame } from '#sdk/frames.ts';
import { api, type Decision } from '#sdk/routes.ts';
import { connectToSession, type SessionConnection } from '#sdk/session-connection.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { signIn } from '../access/access.ts';
import { rememberSession, type Unsent } from '../access/remembered.ts';
import { request } from '../api/request.ts';
import { sendDecision, type WaitingCall, whyUndecided } from '../approval/waiting-call.ts';
import { notify } from '../components/notices.vue';
import { settledChildCalls } from './child-calls.ts';
import type { CallItem, Item, MessageChoices } from './items.ts';
import { isUnsent, type Outbox, openOutbox } from './outbox.ts';
import { paced } from './pace.ts';
import { isByRequests, socketClient, useRequests, useWebSocket } from './socket-choice.ts';
import {
  initialState,
  isSocketBlocked,
  linkOf,
  reduce,
  type ViewEvent,
  type ViewState,
} from './view-state.ts';

let current: ViewState = initialState;
let connection: SessionConnection | undefined;
let outbox: Outbox | undefined;
const shown = shallowRef<ViewState>(initialState);
const isBehind = shallowRef(false);
/** The calls that were shown when a replay began. */
let heldIds: ReadonlySet<string> = new Set();
const drawSoon = paced(() => {
  const isNowBehind = lastSeq < replayEnd;
  if (isNowBehind && !isBehind.value) heldIds = new Set(waitingCallItems.value.map(({ id }) => id));
  shown.value = current;
  isBehind.value = isNowBehind;
});
const openId = shallowRef<string | null>(null);
const missingId = shallowRef<string | null>(null);

/** State of the open session. */
export const liveState: Readonly<ShallowRef<ViewState>> = shown;
export const openSessionId: Readonly<ShallowRef<string | null>> = openId;
/** The id of a session that does not exist or was deleted. */
export const missingSessionId: Readonly<ShallowRef<string | null>> = missingId;

/** True during a replay, whose next events may have the decision on a waiting call. */
export const isReplaying: Readonly<ShallowRef<boolean>> = isBehind;

/**
 * Waiting calls without a decision, child sessions included. During a replay only those that were shown before it: their
 * prompts may hold a half-written edit.
 */
export const waitingCallItems = computed(() =>
  shown.value.items.filter(isWaiting).filter(({ id }) => !isBehind.value || heldIds.has(id)),
);
export const waitingCalls = computed(() => waitingCallItems.value.length);

const isWaiting = (item: Item): item is CallItem =>
  item.kind === 'call' && item.status === 'waiting' && item.decision === null;

const dispatch = (event: ViewEvent): void => {
  current = reduce(current, event);
  if (event.type === 'frame-received' && isReplayed(event.frame)) drawLater();
  else drawSoon();
};

/** The replay after a connection is rendered as a whole, or once a second while it lasts. */
const isReplayed = ({ seq }: Frame): boolean => seq !== null && seq < replayEnd;
const replayDrawMs = 1000;
let replayEnd = -1;
let lastSeq = -1;
let isReplayDrawDue = false;
const drawLater = (): void => {
  if (isReplayDrawDue) return;
  isReplayDrawDue = true;
  setTimeout(() => {
    isReplayDrawDue = false;
    drawSoon();
  }, replayDrawMs);
};

export const openSession = (sessionId: string): void => {
  if (openId.value === sessionId && connection !== undefined) return;
  closeSession();
  openId.value = sessionId;
  missingId.value = null;
  outbox = openOutbox(sessionId);
  rememberSession(sessionId);
  connection = connect(sessionId);
};

const connect = (sessionId: string): SessionConnection =>
  connectToSession(socketClient(), {
    sessionId,
    since: lastSeq,
    onFrame: receive,
    onState: (state) => {
      if (state.kind !== 'ended' || state.error.status !== 404) {
        if (state.kind === 'ended')
          for (const unsent of outbox?.missingAtEnd(current.items) ?? []) show(unsent);
        if (!isByRequests() && isSocketBlocked(state, navigator.onLine)) void poll(sessionId);
        return dispatch({ type: 'link-changed', link: linkOf(state, navigator.onLine, isByRequests()) });
      }
      closeSession();
      missingId.value = sessionId;
    },
    onEventsLost: (oldestSeq) => dispatch({ type: 'events-lost', oldestSeq }),
  });

/** After the last event that was told. */
const reconnect = (sessionId: string): void => {
  connection?.close();
  connection = connect(sessionId);
};

const poll = async (sessionId: string): Promise<void> => {
  const isNeeded = (): boolean => openId.value === sessionId && current.link.kind !== 'connected';
  if (await useRequests(isNeeded)) reconnect(sessionId);
};

export const closeSession = (): void => {
  connection?.close();
  connection = undefined;
  outbox = undefined;
  openId.value = null;
  rememberSession(null);
  current = initialState;
  shown.value = initialState;
  [lastSeq, replayEnd, isBehind.value] = [-1, -1, false];
};

const receive = (frame: Frame): void => {
  if (frame.type === 'system:ready') replayEnd = frame.data.lastSeq;
  lastSeq = frame.seq ?? lastSeq;
  dispatch({ type: 'frame-received', frame });
  if (frame.type === 'system:ready') {
    connection?.sendInOrder(current.items.filter(isUnsent).map(messageAction));
    void dropSettledChildCalls();
  }
  const missing = outbox?.missingAfter(frame, current.items) ?? [];
  for (const unsent of missing) show(unsent);
  connection?.sendInOrder(missing.filter(({ refusal }) => refusal === undefined).map(messageAction));
  if (frame.type === 'message' || frame.type === 'error') outbox?.keep(current.items);
};

/** Decisions that were made while there was no connection are not told after it. */
const dropSettledChildCalls = async (): Promise<void> => {
  // One that was asked anew since has another request, and in another session there is none.
  for (const { id, request } of await settledChildCalls(current.items))
    if (current.items.some((item) => item.kind === 'call' && item.id === id && item.request === request))
      dispatch({ type: 'child-call-decided', itemId: id });
};

const send = (action: ClientAction): boolean => connection?.send(action) ?? false;

let choices: MessageChoices = {};
/** Sets the model of the next messages and its thinking; absent: the session's own. */
export const chooseForNext = (chosen: MessageChoices): void => {
  choices = chosen;
};

type MessageAction = Extract<ClientAction, { readonly action: 'message' }>;

const messageAction = ({ id: messageId, text, attachments, choices }: Unsent): MessageAction => ({
  ...{ action: 'message', text, messageId, ...choices },
  ...(attachments === undefined ? {} : { attachments: attachments.map(({ path }) => ({ path })) }),
});

/** Shows a message at once and sends it now or after the reconnection; with paths of files in the workspace. */
export const ask = (text: string, paths: readonly string[] = []): void => {
  const attachments = paths.map((path) => ({ path }));
  const id = crypto.randomUUID();
  const unsent = { id, text, choices, ...(paths.length === 0 ? {} : { attachments }) };
  show(unsent);
  send(messageAction(unsent));
};

const show = ({ id: messageId, text, attachments, choices, refusal }: Unsent): void => {
  dispatch({ type: 'question-sent', messageId, text, attachments, choices, refusal });
  outbox?.keep(current.items);
};

export const withdraw = (messageId: string): void => {
  dispatch({ type: 'question-withdrawn', messageId });
  outbox?.keep(current.items);
};

/** Sends a refused message again, with its files and choices. */
export const resend = (messageId: string): void => {
  const item = current.items.find(({ id }) => id === messageId);
  if (item?.kind !== 'question' || item.refusal === undefined) return;
  withdraw(messageId);
  const { refusal: _, ...unsent } = item;
  show(unsent);
  send(messageAction(unsent));
};

/** Data of an approval prompt; undefined for a call that does not wait. */
export const waitingCallOf = ({ request, ...call }: CallItem): WaitingCall | undefined => {
  const sessionId = call.childSession ?? openId.value;
  if (request === null || sessionId === null) return undefined;
  const { callId, name, args } = call;
  return { sessionId, callId, name, args, ...request };
};

/** Sends a decision with the digest of its call; a decision that failed is undone here. */
export const decide = async (item: CallItem, decision: Decision): Promise<void> => {
  const call = waitingCallOf(item);
  const open = openId.value;
  if (call === undefined || open === null || !isWaiting(item)) return;
  const itemId = item.id;
  dispatch({ type: 'call-decided', itemId, decision });
  try {
    await sendDecision(call, decision);
  } catch (error) {
    if (!isSettled(error)) {
      dispatchTo(open, { type: 'call-undecided', itemId });
      return notify(whyUndecided(error instanceof Error ? error : new Error(String(error))), 'bad');
    }
    // Of a call of the session itself, the log says who decided it.
    if (item.childSession !== null) notify('Already decided.', 'info');
  }
  if (item.childSession !== null) dispatchTo(open, { type: 'child-call-decided', itemId });
};

/** An answer may come when another session is open, in which another item has this id. */
const dispatchTo = (sessionId: string, event: ViewEvent): void => {
  if (openId.value === sessionId) dispatch(event);
};

/** A call of a session, which need not be the open one any more. */
export type CallOfSession = { readonly sessionId: string; readonly call: CallItem };

/** Replaces truncated arguments. */
export const replaceArgs = ({ sessionId, call }: CallOfSession, args: unknown): void => {
  if (typeof args === 'object' && args !== null)
    dispatchTo(sessionId, { type: 'args-completed', itemId: call.id, args: args as JsonObject });
};

/** Replaces a truncated result. */
export const replaceOutput = ({ sessionId, call }: CallOfSession, content: unknown): void => {
  if (Array.isArray(content)) dispatchTo(sessionId, { type: 'output-completed', itemId: call.id, content });
};

/** Over the socket, and without one by a request; that neither arrived is said. */
const sendOr = async (action: ClientAction, ask: (id: string) => Promise<unknown>): Promise<void> => {
  const id = openId.value;
  if (id === null || send(action)) return;
  await ask(id).catch((error: unknown) =>
    notify(`The action failed: ${error instanceof Error ? error.message : String(error)}`, 'bad'),
  );
};

export const cancelTurn = (): Promise<void> =>
  sendOr({ action: 'turn:cancel' }, (id) => request(api.cancelTurn, { params: { id } }));
export const stopSession = (): Promise<void> =>
  sendOr({ action: 'session:stop' }, (id) => request(api.endSession, { params: { id } }));
export const resetHistory = (): Promise<void> =>
  sendOr({ action: 'history:reset' }, () =>
    Promise.reject(new Error('there is no connection. Try again when it is back.')),
  );

/** Reconnects at once, also after a refused connection. */
export const tryNow = (): void => {
  const sessionId = openId.value;
  const { kind } = current.link;
  if (kind === 'polled') useWebSocket();
  if (sessionId !== null && (kind === 'polled' || kind === 'stopped')) reconnect(sessionId);
  else connection?.tryNow();
};

watch(
  () => signIn.value.kind,
  (kind) => {
    if (kind === 'signed-out') closeSession();
  },
  // At once: a tab that changes its token is signed out for a moment, and the connection is that of the old one.
  { flush: 'sync' },
);
addEventListener('online', () => connection?.tryNow());
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') connection?.tryNow();
});
