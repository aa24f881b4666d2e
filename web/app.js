/**
 * The web app: one session with an agent, in one tab.
 *
 * It holds the only state there is, gives every event to the reducer, and draws the page from what comes out.
 * @import { Connection } from './connection/connection.js'
 * @import { Decision } from './call-state.js'
 * @import { ClientAction, Frame } from './connection/protocol.js'
 * @import { Item, QuestionItem, ViewEvent } from './view-state.js'
 */
import { openConnection } from './connection/connection.js';
import { openPage } from './page/page.js';
import { rememberedSession, rememberSession, rememberToken, takeToken } from './remembered.js';
import { initialState, reduce } from './view-state.js';

let state = initialState;
let token = takeToken();
/** @type {Connection | undefined} */
let connection;
let isDrawDue = false;

/** @param {ViewEvent} event */
const dispatch = (event) => {
  state = reduce(state, event);
  if (isDrawDue) return;
  isDrawDue = true;
  // A page in the background gets no animation frames, and need not be drawn.
  requestAnimationFrame(() => {
    isDrawDue = false;
    draw(state);
  });
};

const connect = () => {
  connection?.close();
  if (token === null)
    return dispatch({ type: 'link-changed', link: { kind: 'signed-out', isRefused: false } });
  connection = openConnection({
    token,
    sessionId: rememberedSession(),
    onFrame: receive,
    onLink: (link) => {
      if (link.kind === 'signed-out') rememberToken(null);
      dispatch({ type: 'link-changed', link });
    },
    onEventsLost: (oldestSeq) => dispatch({ type: 'events-lost', oldestSeq }),
    onSessionGone: startOver,
  });
};

/** @param {Frame} frame */
const receive = (frame) => {
  dispatch({ type: 'frame-received', frame });
  if (frame.type !== 'system:ready') return;
  rememberSession(frame.data.sessionId);
  for (const { id, text } of state.items.filter(isUnsent)) send(id, text);
};

/**
 * What the server has not confirmed is sent again: it knows a message by its id and takes it once.
 * @param {Item} item
 * @returns {item is QuestionItem}
 */
const isUnsent = (item) => item.kind === 'question' && item.delivery === 'sending';

/**
 * @param {string} messageId
 * @param {string} text
 */
const send = (messageId, text) => connection?.send({ action: 'message', text, messageId });

const startOver = () => {
  rememberSession(null);
  dispatch({ type: 'session-left' });
  connect();
};

const draw = openPage({
  ask: (text) => {
    const messageId = crypto.randomUUID();
    dispatch({ type: 'question-asked', messageId, text });
    send(messageId, text);
  },
  decide: (callId, decision) => {
    const isSent = connection?.send(approvalOf(callId, decision));
    if (isSent === true) dispatch({ type: 'call-decided', callId, decision });
  },
  leaveSession: () => {
    connection?.send({ action: 'session:stop' });
    startOver();
  },
  signIn: (given) => {
    token = given;
    rememberToken(given);
    startOver();
  },
  tryNow: () => (state.link.kind === 'stopped' ? connect() : connection?.tryNow()),
});

/**
 * @param {string} callId
 * @param {Decision} decision
 * @returns {ClientAction}
 */
const approvalOf = (callId, decision) => ({
  action: 'tool:approval',
  callId,
  approved: decision !== 'reject',
  ...(decision === 'always' ? { remember: 'session' } : {}),
});

addEventListener('online', () => connection?.tryNow());
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') connection?.tryNow();
});
// A new link opened in the same tab changes the fragment and loads nothing.
addEventListener('hashchange', () => {
  const given = takeToken();
  if (given === token) return;
  token = given;
  startOver();
});

connect();
