/**
 * The connection to one session: it resumes after the last event that was delivered, and delivers each event once, in order.
 *
 * A message that is too long for a frame is sent by REST; a refusal of it comes back as the frame that the socket would have
 * brought. A message whose frame failed is sent by REST, too: because of its id it is accepted once, and the answer says what
 * became of it.
 */

import type { ApiClient } from './api-client.ts';
import { type Connection, type ConnectionOptions, openConnection } from './connection.ts';
import { SallyportError } from './errors.ts';
import { fetchEvents, openEventFeed } from './event-feed.ts';
import type { LoggedFrame } from './event-order.ts';
import type { ClientAction, Frame, FrameOf } from './frames.ts';
import { openMessageQueue } from './message-queue.ts';
import { mayPass } from './retry.ts';
import { api } from './routes.ts';
import { type MessageAction, trackSentFrames } from './sent-frames.ts';

/** API Gateway cuts a connection for a frame over 32 KB. */
const frameBytesMax = 30 * 1024;

export type SessionConnectionOptions = Omit<ConnectionOptions, 'query' | 'greeting' | 'probe'> & {
  readonly sessionId: string;
  /** The last event that is known, -1 for none; absent: only events from now on are told. */
  readonly since?: number | undefined;
  /** Events that are too long for a frame are fetched; absent: they are told with their longest text cut. */
  readonly isWhole?: boolean;
  /** Events before this number are no longer kept, and some of them were not told. */
  readonly onEventsLost?: (oldestSeq: number) => void;
};

export type SessionConnection = Connection & {
  /**
   * Sends messages one after another, each when the one before was accepted: functions that receive two frames of a socket
   * run side by side, and the later one may be first. Messages that are sent during the replay follow.
   */
  readonly sendInOrder: (messages: readonly MessageAction[]) => void;
};

export const connectToSession = (
  sallyport: ApiClient,
  { sessionId, since, isWhole = false, onEventsLost = () => undefined, ...options }: SessionConnectionOptions,
): SessionConnection => {
  let isClosed = false;
  const onFrame = (frame: Frame): void => {
    if (!isClosed) options.onFrame(frame);
  };
  const feed = openEventFeed({
    since,
    fetchAfter: (since) => fetchEvents(sallyport, sessionId, { since }),
    onFrame,
    onEventsLost,
  });
  const sent = trackSentFrames();
  const connection = openConnection(sallyport, {
    ...options,
    greeting: 'system:ready',
    query: () => {
      const last = feed.lastSeq();
      return { sessionId, ...(last === undefined ? {} : { since: String(last) }) };
    },
    probe: () => sallyport.request(api.showSession, { params: { id: sessionId } }),
    onFrame: (frame) => {
      if (frame.type === 'system:ready') {
        feed.expect(frame.data.lastSeq);
        sent.clear();
      }
      if (frame.type === 'message') sent.answer(frame.data.messageId);
      // A frame of a session under this one has no number, and is no part of this log.
      if (isLogged(frame)) {
        if (isWhole && isCut(frame)) feed.fetch(frame.seq);
        else feed.take(frame);
      } else if (frame.type === 'error') refuse(frame);
      else onFrame(frame);
    },
    onState: (state) => {
      if (state.kind === 'ended') feed.stop();
      options.onState(state);
    },
  });
  const sendFrame = (action: ClientAction): boolean => {
    const wasSent = connection.send(action);
    if (wasSent) sent.add(action);
    return wasSent;
  };
  const queue = openMessageQueue(sallyport, {
    sessionId,
    isConnected: connection.isReady,
    sendFrame: (message) => fitsFrame(message) && sendFrame(message),
    onAnswered: sent.answer,
    onRefused: onFrame,
  });
  const send = (action: ClientAction): boolean => {
    if (action.action !== 'message' || (queue.isEmpty() && fitsFrame(action))) return sendFrame(action);
    if (connection.isReady()) queue.add([action]);
    return connection.isReady();
  };
  const refuse = (frame: FrameOf<'error'>): void => {
    const { error, messageId, processId } = frame.data;
    if (processId !== undefined || !mayPass(new SallyportError(0, error))) {
      if (messageId !== undefined) sent.answer(messageId);
      onFrame(frame);
      return;
    }
    const { again, isOfOthers } = sent.fail(messageId);
    queue.add(again);
    if (isOfOthers) onFrame(again.length === 0 ? frame : aboutOthers(frame));
  };
  return {
    ...connection,
    send,
    sendInOrder: queue.add,
    close: () => {
      isClosed = true;
      feed.stop();
      connection.close();
    },
  };
};

/** Where messages that may have failed are sent again, a person is not told to. */
const aboutOthers = ({ data, ...frame }: FrameOf<'error'>): Frame => {
  const suggestions = ['Messages are sent again. Look whether the rest was done, and repeat it if not.'];
  return { ...frame, data: { ...data, error: { ...data.error, suggestions } } };
};

const isLogged = (frame: Frame): frame is LoggedFrame => frame.seq !== null;

/** Told by the server of a frame over its limit, and of thoughts of which more are not kept anywhere. */
const isCut = ({ data }: LoggedFrame): boolean => 'truncated' in data && data.truncated === true;

const fitsFrame = (action: ClientAction): boolean =>
  new TextEncoder().encode(JSON.stringify(action)).length <= frameBytesMax;
