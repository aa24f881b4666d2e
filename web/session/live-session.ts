/**
 * The one session that is open in this tab, and its connection: kept while a person moves between pages.
 *
 * Frames are reduced as they come and shown at the pace of the drawing (pace.ts), so that a flood costs few drawings.
 */
import { clientOf } from '../api/request.ts';
import { computed, type ShallowRef, shallowRef, watch } from 'vue';
import { isSettled } from '#sdk/approvals.ts';
import type { Connection } from '#sdk/connection.ts';
import { connectToSession } from '#sdk/session-connection.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { signIn } from '../access/access.ts';
import { rememberSession } from '../access/remembered.ts';
import type { Decision } from '#sdk/routes.ts';
import { sendDecision, type WaitingCall, whyUndecided } from '../approval/waiting-call.ts';
import { notify } from '../components/notices.ts';
import type { ClientAction, Frame } from '#sdk/frames.ts';
import type { CallItem, Item } from './items.ts';
import { linkOf } from './link.ts';
import { isUnsent, type Outbox, openOutbox } from './outbox.ts';
import { paced } from './pace.ts';
import { initialState, reduce, type ViewEvent, type ViewState } from './view-state.ts';

let current: ViewState = initialState;
let connection: Connection | undefined;
let outbox: Outbox | undefined;
const shown = shallowRef<ViewState>(initialState);
const drawSoon = paced(() => {
  shown.value = current;
});
const openId = shallowRef<string | null>(null);
const goneId = shallowRef<string | null>(null);

/** What is known of the open session. */
export const liveState: Readonly<ShallowRef<ViewState>> = shown;
export const openSessionId: Readonly<ShallowRef<string | null>> = openId;
/** A session that was asked for and does not exist, or does no longer. */
export const goneSessionId: Readonly<ShallowRef<string | null>> = goneId;

/** Calls that wait for a decision and have none yet, those of sessions below included. */
export const waitingCallItems = computed(() => shown.value.items.filter(isWaiting));
export const waitingCalls = computed(() => waitingCallItems.value.length);

const isWaiting = (item: Item): item is CallItem =>
  item.kind === 'call' && item.status === 'waiting' && item.decision === null;

const dispatch = (event: ViewEvent): void => {
  current = reduce(current, event);
  if (event.type === 'frame-received' && isReplayed(event.frame)) drawLater();
  else drawSoon();
};

/** What is told again after a connection is shown as a whole, or now and then when that takes long. */
const isReplayed = ({ seq }: Frame): boolean => seq !== null && seq < replayEnd;
const replayDrawMs = 1000;
let replayEnd = -1;
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
  goneId.value = null;
  outbox = openOutbox(sessionId);
  rememberSession(sessionId);
  connection = connectToSession(clientOf(), {
    sessionId,
    since: -1,
    onFrame: receive,
    onState: (state) => {
      if (state.kind !== 'ended' || state.error.status !== 404)
        return dispatch({ type: 'link-changed', link: linkOf(state, navigator.onLine) });
      closeSession();
      goneId.value = sessionId;
    },
    onEventsLost: (oldestSeq) => dispatch({ type: 'events-lost', oldestSeq }),
  });
};

export const closeSession = (): void => {
  connection?.close();
  connection = undefined;
  outbox = undefined;
  openId.value = null;
  rememberSession(null);
  current = initialState;
  shown.value = initialState;
};

const receive = (frame: Frame): void => {
  if (frame.type === 'system:ready') replayEnd = frame.data.lastSeq;
  dispatch({ type: 'frame-received', frame });
  if (frame.type === 'system:ready')
    for (const { id, text } of current.items.filter(isUnsent)) sendMessage(id, text);
  for (const { id, text } of outbox?.missingAfter(frame, current.items) ?? []) say(id, text);
  if (frame.type === 'message' || frame.type === 'error') outbox?.keep(current.items);
};

const send = (action: ClientAction): boolean => connection?.send(action) ?? false;

let nextModel: string | undefined;
/** The model of the messages from now on; undefined: the session's own. */
export const chooseModel = (model: string | undefined): void => {
  nextModel = model;
};

const sendMessage = (messageId: string, text: string): boolean =>
  send({ action: 'message', text, messageId, ...(nextModel === undefined ? {} : { model: nextModel }) });

/** Shown at once; sent now, or when the connection is back. */
export const ask = (text: string): void => {
  say(crypto.randomUUID(), text);
};

const say = (messageId: string, text: string): void => {
  dispatch({ type: 'question-asked', messageId, text });
  outbox?.keep(current.items);
  sendMessage(messageId, text);
};

export const withdraw = (messageId: string): void => {
  dispatch({ type: 'question-withdrawn', messageId });
  outbox?.keep(current.items);
};

/** The data that a prompt needs to show and decide a call; undefined for one that does not wait. */
export const waitingCallOf = ({ asked, ...call }: CallItem): WaitingCall | undefined => {
  const sessionId = call.childSession ?? openId.value;
  if (asked === null || sessionId === null) return undefined;
  const { callId, name, args } = call;
  return { sessionId, callId, name, args, ...asked };
};

/** Said with its digest, and taken back here when it did not count. */
export const decide = async (item: CallItem, decision: Decision): Promise<void> => {
  const call = waitingCallOf(item);
  if (call === undefined || !isWaiting(item)) return;
  dispatch({ type: 'call-decided', itemId: item.id, decision });
  try {
    await sendDecision(call, decision);
  } catch (error) {
    if (!isSettled(error)) {
      dispatch({ type: 'call-undecided', itemId: item.id });
      return notify(whyUndecided(error instanceof Error ? error : new Error(String(error))), 'bad');
    }
  }
  if (item.childSession !== null) dispatch({ type: 'child-call-decided', itemId: item.id });
};

/** More of the arguments that came shortened. */
export const replaceArgs = (call: CallItem, args: unknown): void => {
  if (typeof args === 'object' && args !== null)
    dispatch({ type: 'args-completed', itemId: call.id, args: args as JsonObject });
};

/** More of a result that came shortened. */
export const replaceOutput = (call: CallItem, content: unknown): void => {
  if (Array.isArray(content)) dispatch({ type: 'output-completed', itemId: call.id, content });
};

export const cancelTurn = (): boolean => send({ action: 'turn:cancel' });
export const resetHistory = (): boolean => send({ action: 'history:reset' });
export const stopSession = (): boolean => send({ action: 'session:stop' });

/** For a person who sees that it is offline, and after a connection that was refused. */
export const tryNow = (): void => {
  const sessionId = openId.value;
  if (current.link.kind === 'stopped' && sessionId !== null) {
    connection = undefined;
    openSession(sessionId);
  } else connection?.tryNow();
};

watch(
  () => signIn.value.kind,
  (kind) => {
    if (kind === 'signed-out') closeSession();
  },
);
addEventListener('online', () => connection?.tryNow());
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') connection?.tryNow();
});
