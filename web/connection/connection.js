/**
 * The connection to one session, which comes back by itself until trying again cannot help.
 *
 * Each try takes a new ticket and resumes after the last event that was delivered. It says in what state it is
 * and hands on frames; what they mean is decided elsewhere.
 * @import { LoggedFrame } from './event-order.js'
 * @import { ClientAction, Frame } from './protocol.js'
 * @import { Socket } from './socket.js'
 * @import { Link } from '../view-state.js'
 */
import { openEventFeed } from './event-feed.js';
import { startHeartbeat } from './heartbeat.js';
import { scheduleRetries } from './retry.js';
import { fetchEvents, findSession, messageOf, postMessage, takeTicket } from './server.js';
import { openSocket } from './socket.js';

/** After so many failed tries in a row it is not a hiccup. */
const triesBeforeOffline = 3;
/** API Gateway cuts a connection for a frame over 32 KB; a longer text goes by REST. */
const frameBytesMax = 30 * 1024;

/**
 * @typedef {{
 *   readonly token: string,
 *   readonly sessionId: string | null,
 *   readonly onFrame: (frame: Frame) => void,
 *   readonly onLink: (link: Link) => void,
 *   readonly onEventsLost: (oldestSeq: number) => void,
 *   readonly onSessionGone: () => void,
 * }} ConnectionOptions
 *
 * @typedef {{
 *   readonly send: (action: ClientAction) => boolean,
 *   readonly tryNow: () => void,
 *   readonly close: () => void,
 * }} Connection
 */

/**
 * @param {ConnectionOptions} options
 * @returns {Connection}
 */
export const openConnection = ({ token, sessionId: resumed, onFrame, onLink, ...on }) => {
  let sessionId = resumed;
  let isReady = false;
  let isClosed = false;
  /** @type {Socket | undefined} */
  let socket;
  /** @type {string | undefined} why another try would end as this one did */
  let refusal;

  const feed = openEventFeed({
    fetchAfter: (seq) => fetchEvents(token, sessionId ?? '', seq),
    onFrame,
    onEventsLost: on.onEventsLost,
  });

  const connect = async () => {
    refusal = undefined;
    const answer = await takeTicket(token);
    if (isClosed) return;
    if (answer.status === 401) return end({ kind: 'signed-out', isRefused: true });
    if (answer.status === 403) return end({ kind: 'stopped', reason: messageOf(answer) });
    if (answer.status !== 201) return tryAgain();
    socket = openSocket({
      ticket: answer.ticket,
      sessionId,
      since: feed.lastSeq(),
      onFrame: receive,
      onEnd: lose,
    });
  };

  /** @param {Frame} frame */
  const receive = (frame) => {
    heartbeat.heard();
    if (frame.type === 'system:ready') greet(frame.data);
    if (frame.type === 'error' && !isReady) refusal = frame.data.error.message;
    else if (isLogged(frame)) feed.take(frame);
    else onFrame(frame);
  };

  /** @param {{ readonly sessionId: string, readonly lastSeq: number }} ready */
  const greet = (ready) => {
    isReady = true;
    sessionId = ready.sessionId;
    retry.succeeded();
    feed.expect(ready.lastSeq);
    onLink({ kind: 'connected' });
  };

  const lose = async () => {
    const wasReady = isReady;
    isReady = false;
    socket?.leave();
    socket = undefined;
    if (refusal !== undefined) return end({ kind: 'stopped', reason: refusal });
    const isGone = !wasReady && sessionId !== null && (await findSession(token, sessionId)).status === 404;
    if (isClosed) return;
    if (!isGone) return tryAgain();
    close();
    on.onSessionGone();
  };

  const tryAgain = () => {
    const isOffline = retry.later() > triesBeforeOffline || !navigator.onLine;
    onLink({ kind: isOffline ? 'offline' : 'reconnecting' });
  };
  const retry = scheduleRetries(connect);
  const heartbeat = startHeartbeat({
    ping: () => isReady && socket?.send({ action: 'ping' }),
    onSilence: () => isReady && lose(),
  });

  const close = () => {
    isClosed = true;
    retry.stop();
    heartbeat.stop();
    feed.stop();
    socket?.leave();
  };

  /** @param {Link} link */
  const end = (link) => {
    close();
    onLink(link);
  };

  /** @param {ClientAction} action */
  const send = (action) => {
    if (!isReady || socket === undefined || sessionId === null) return false;
    if (action.action === 'message' && !fitsFrame(action))
      void sendByRest({ token, sessionId, onFrame }, action);
    else socket.send(action);
    return true;
  };

  onLink({ kind: 'connecting' });
  void connect();
  return { send, tryNow: () => (isReady ? heartbeat.check() : retry.now()), close };
};

/**
 * @param {Frame} frame
 * @returns {frame is LoggedFrame}
 */
const isLogged = (frame) => frame.seq !== null;

/**
 * @param {ClientAction} action
 * @returns {boolean}
 */
const fitsFrame = (action) => new Blob([JSON.stringify(action)]).size <= frameBytesMax;

/**
 * A refusal comes back as the frame that the socket would have brought.
 * @param {{ readonly token: string, readonly sessionId: string, readonly onFrame: (frame: Frame) => void }} to
 * @param {Extract<ClientAction, { readonly action: 'message' }>} message
 */
const sendByRest = async ({ token, sessionId, onFrame }, message) => {
  const answer = await postMessage(token, sessionId, message);
  if (answer.status === 202 || answer.status === 0) return;
  const error = { code: 'invalid_request', message: messageOf(answer) };
  onFrame({ type: 'error', seq: null, at: new Date().toISOString(), data: { error } });
};
