/**
 * The connection to one session: it resumes after the last event that was delivered, and tells each event once, in order.
 *
 * A message that is too long for a frame goes by REST; a refusal of it comes back as the frame that the socket would
 * have brought.
 */

import type { ApiClient } from './api-client.ts';
import { type Connection, type ConnectionOptions, openConnection } from './connection.ts';
import { SallyportError } from './errors.ts';
import { fetchEvents, openEventFeed } from './event-feed.ts';
import type { LoggedFrame } from './event-order.ts';
import type { ClientAction, Frame } from './frames.ts';
import { backOffMs, pause } from './retry.ts';
import { api } from './routes.ts';

/** API Gateway cuts a connection for a frame over 32 KB. */
const frameBytesMax = 30 * 1024;

export type SessionConnectionOptions = Omit<ConnectionOptions, 'query' | 'greeting' | 'probe'> & {
  readonly sessionId: string;
  /** The last event that is known, -1 for none; absent: only events from now on are told. */
  readonly since?: number;
  /** Events before this number are no longer kept, and some of them were not told. */
  readonly onEventsLost?: (oldestSeq: number) => void;
};

export type SessionConnection = Connection & {
  /**
   * Sends messages one after another, each when the one before was accepted: functions that receive two frames of a socket
   * run side by side, and the later one may be first. Messages that are sent meanwhile follow.
   */
  readonly sendInOrder: (messages: readonly MessageAction[]) => void;
};

export const connectToSession = (
  sallyport: ApiClient,
  { sessionId, since, onEventsLost = () => undefined, ...options }: SessionConnectionOptions,
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
  const connection = openConnection(sallyport, {
    ...options,
    greeting: 'system:ready',
    query: () => {
      const last = feed.lastSeq();
      return { sessionId, ...(last === undefined ? {} : { since: String(last) }) };
    },
    probe: () => sallyport.request(api.showSession, { params: { id: sessionId } }),
    onFrame: (frame) => {
      if (frame.type === 'system:ready') feed.expect(frame.data.lastSeq);
      // A frame of a session under this one has no number, and is no part of this log.
      if (isLogged(frame)) feed.take(frame);
      else onFrame(frame);
    },
    onState: (state) => {
      if (state.kind === 'ended') feed.stop();
      options.onState(state);
    },
  });
  /** Messages that go by REST, the first of which is on its way. */
  const outgoing: MessageAction[] = [];
  const send = (action: ClientAction): boolean => {
    if (action.action !== 'message' || (outgoing.length === 0 && fitsFrame(action)))
      return connection.send(action);
    if (connection.isReady()) void sendInOrder([action]);
    return connection.isReady();
  };
  const sendInOrder = async (messages: readonly MessageAction[]): Promise<void> => {
    const isSending = outgoing.length > 0;
    outgoing.push(...messages);
    if (isSending) return;
    let tries = 0;
    for (let first = outgoing[0]; first !== undefined; first = outgoing[0]) {
      tries += 1;
      if ((await isAnswered(first)) || (fitsFrame(first) && connection.send(first))) {
        outgoing.shift();
        tries = 0;
      } else if (connection.isReady()) await pause(backOffMs(tries, Math.random()));
      // The caller sends those that did not arrive again after the next reconnection.
      else outgoing.length = 0;
    }
  };
  const isAnswered = async ({ action: _, ...body }: MessageAction): Promise<boolean> => {
    // With its id it is accepted once.
    const repeat = body.messageId === undefined ? 'limited' : 'lost';
    try {
      await sallyport.request(api.sendMessage, { params: { id: sessionId }, body }, { repeat });
      return true;
    } catch (error) {
      if (!(error instanceof SallyportError) || (error.status === 0 && repeat === 'lost')) return false;
      onFrame({
        type: 'error',
        sessionId,
        seq: null,
        at: new Date().toISOString(),
        data: { error: error.facts, messageId: body.messageId },
      });
      return true;
    }
  };
  return {
    ...connection,
    send,
    sendInOrder,
    close: () => {
      isClosed = true;
      feed.stop();
      connection.close();
    },
  };
};

type MessageAction = Extract<ClientAction, { readonly action: 'message' }>;

const isLogged = (frame: Frame): frame is LoggedFrame => frame.seq !== null;

const fitsFrame = (action: ClientAction): boolean =>
  new TextEncoder().encode(JSON.stringify(action)).length <= frameBytesMax;
