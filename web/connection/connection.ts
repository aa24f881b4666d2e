/**
 * The connection to one session, which comes back by itself until trying again cannot help.
 *
 * Each try takes a new ticket and resumes after the last event that was delivered. It says in what state it is and
 * hands on frames; what they mean is decided elsewhere.
 */
import { RequestError, request } from '../api/request.ts';
import { api } from '../api/routes.ts';
import { openEventFeed } from './event-feed.ts';
import type { LoggedFrame } from './event-order.ts';
import { fetchEvents } from './fetch-events.ts';
import { startHeartbeat } from './heartbeat.ts';
import type { Link } from './link.ts';
import type { ClientAction, Frame, Greeting } from './protocol.ts';
import { scheduleRetries } from './retry.ts';
import { openSocket, type Socket } from './socket.ts';

/** After so many failed tries in a row it is not a hiccup. */
const triesBeforeOffline = 2;
/** API Gateway cuts a connection for a frame over 32 KB; a longer text goes by REST. */
const frameBytesMax = 30 * 1024;
/** Another try of these would end as this one did. */
const finalStatuses = new Set([400, 401, 403]);

export type ConnectionOptions = {
  readonly sessionId: string;
  readonly onFrame: (frame: Frame) => void;
  readonly onLink: (link: Link) => void;
  readonly onEventsLost: (oldestSeq: number) => void;
  readonly onSessionGone: () => void;
};

export type Connection = {
  /** False when there is no connection to send it over. */
  readonly send: (action: ClientAction) => boolean;
  readonly tryNow: () => void;
  readonly close: () => void;
};

export const openConnection = ({ sessionId, onFrame, onLink, ...on }: ConnectionOptions): Connection => {
  let isReady = false;
  let isClosed = false;
  let socket: Socket | undefined;
  /** What the server said before it closed. */
  let refusal: { readonly code: string; readonly message: string } | undefined;

  const feed = openEventFeed({
    fetchAfter: (seq) => fetchEvents(sessionId, seq),
    onFrame,
    onEventsLost: on.onEventsLost,
  });

  const connect = async (): Promise<void> => {
    refusal = undefined;
    try {
      const ticket = await ticketFor(sessionId);
      if (isClosed) return;
      if (ticket === undefined) return leave();
      const query = { sessionId, since: String(feed.lastSeq()) };
      socket = openSocket({ ticket, query, onFrame: receive, onEnd: () => void lose() });
    } catch (error) {
      if (isClosed) return;
      if (error instanceof RequestError && finalStatuses.has(error.status))
        return end({ kind: 'stopped', code: error.code, reason: error.message });
      tryAgain();
    }
  };

  const receive = (frame: Frame): void => {
    heartbeat.heard();
    if (frame.type === 'system:ready') greet(frame.data);
    if (frame.type === 'error' && !isReady) refusal = frame.data.error;
    else if (isLogged(frame)) feed.take(frame);
    else onFrame(frame);
  };

  const greet = ({ lastSeq }: Greeting): void => {
    isReady = true;
    retry.succeeded();
    feed.expect(lastSeq);
    onLink({ kind: 'connected' });
  };

  const lose = async (): Promise<void> => {
    const wasReady = isReady;
    isReady = false;
    socket?.leave();
    socket = undefined;
    if (refusal !== undefined) return end({ kind: 'stopped', code: refusal.code, reason: refusal.message });
    const isGone = !wasReady && (await isSessionGone(sessionId));
    if (isClosed) return;
    if (isGone) leave();
    else tryAgain();
  };

  const leave = (): void => {
    close();
    on.onSessionGone();
  };

  const tryAgain = (): void => {
    const { failures, nextAt } = retry.later();
    const isOffline = failures > triesBeforeOffline || !navigator.onLine;
    onLink({ kind: isOffline ? 'offline' : 'reconnecting', nextAt });
  };
  const retry = scheduleRetries(() => void connect());
  const heartbeat = startHeartbeat({
    ping: () => isReady && socket?.send({ action: 'ping' }),
    onSilence: () => isReady && void lose(),
  });

  const close = (): void => {
    isClosed = true;
    retry.stop();
    heartbeat.stop();
    feed.stop();
    socket?.leave();
  };

  const end = (link: Link): void => {
    close();
    onLink(link);
  };

  const send = (action: ClientAction): boolean => {
    if (!isReady || socket === undefined) return false;
    if (action.action === 'message' && !fitsFrame(action)) void sendByRest({ sessionId, onFrame }, action);
    else socket.send(action);
    return true;
  };

  onLink({ kind: 'connecting' });
  void connect();
  return { send, tryNow: () => (isReady ? heartbeat.check() : retry.now()), close };
};

/** A frame of a session under this one has no number, and is no part of this log. */
const isLogged = (frame: Frame): frame is LoggedFrame => frame.seq !== null;

const fitsFrame = (action: ClientAction): boolean => new Blob([JSON.stringify(action)]).size <= frameBytesMax;

/** Undefined when the session is not there: a browser is not told why a socket was refused. */
const ticketFor = async (sessionId: string): Promise<string | undefined> => {
  const [{ ticket }, isGone] = await Promise.all([request(api.makeTicket), isSessionGone(sessionId)]);
  return isGone ? undefined : ticket;
};

const isSessionGone = async (sessionId: string): Promise<boolean> => {
  try {
    await request(api.showSession, { params: { id: sessionId } });
    return false;
  } catch (error) {
    return error instanceof RequestError && error.status === 404;
  }
};

/** A refusal comes back as the frame that the socket would have brought. */
const sendByRest = async (
  { sessionId, onFrame }: Pick<ConnectionOptions, 'sessionId' | 'onFrame'>,
  { text, messageId, model }: Extract<ClientAction, { readonly action: 'message' }>,
): Promise<void> => {
  const body = {
    text,
    ...(messageId === undefined ? {} : { messageId }),
    ...(model === undefined ? {} : { model }),
  };
  try {
    await request(api.sendMessage, { params: { id: sessionId }, body });
  } catch (error) {
    // Without an answer it is sent again after the reconnection.
    if (!(error instanceof RequestError) || error.status === 0) return;
    const { code, message, suggestions } = error;
    onFrame({
      type: 'error',
      seq: null,
      at: new Date().toISOString(),
      data: { error: { code, message, suggestions } },
    });
  }
};
