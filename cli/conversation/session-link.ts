/**
 * The connection to one session: it comes back by itself with the last number it saw.
 *
 * It hands on frames, logged ones in order and once; what they mean is decided elsewhere. It ends when the server
 * refuses for good, or when trying again has not helped for long.
 */
import { WebSocket } from 'ws';
import { CliFailure, failure, readErrorBody, toFailure } from '../failure.ts';
import { type HttpClient, segment, unreachable } from '../http-client.ts';
import { openEventFeed } from './event-feed.ts';
import type { Frame, LoggedFrame } from './event-order.ts';

export type Action = { readonly action: string } & Readonly<Record<string, unknown>>;

export type SessionLink = {
  /** False when there is no connection at the moment. */
  readonly send: (action: Action) => boolean;
  readonly close: () => void;
};

type LinkOptions = {
  readonly client: HttpClient;
  readonly sessionId: string;
  readonly onFrame: (frame: Frame) => void;
  readonly onLost: () => void;
  readonly onEnd: (why: CliFailure) => void;
};

const triesMax = 10;
const pauseMsMax = 10_000;
const pauseMsFirst = 300;
/** The gateway drops a connection that is silent for ten minutes; one that is dead must be noticed sooner. */
const pingMs = 30_000;
const closeMsMax = 500;

export const openSessionLink = (options: LinkOptions): SessionLink => {
  const { client, sessionId, onFrame } = options;
  const feed = openEventFeed(options);
  let socket: WebSocket | undefined;
  let isReady = false;
  let isClosed = false;
  let tries = 0;
  let retryTimer: NodeJS.Timeout | undefined;

  const connect = (): void => {
    socket = openSocket({ client, sessionId, since: feed.lastSeq(), onText: receive, onEnd: lose });
  };

  const receive = (text: string): void => {
    const frame = JSON.parse(text) as Frame;
    if (frame.type === 'error' && !isReady) {
      end(refusalIn(frame));
      return;
    }
    if (frame.type === 'system:ready') {
      isReady = true;
      tries = 0;
      feed.greet(Number(frame.data['lastSeq'] ?? -1));
    }
    if (frame.seq === null) onFrame(frame);
    else feed.take([frame as LoggedFrame]);
  };

  const lose = async (problem: CliFailure | undefined): Promise<void> => {
    if (isClosed) return;
    const wasReady = isReady;
    isReady = false;
    tries += 1;
    const refusal = wasReady ? undefined : await refusalOf(client, sessionId, problem);
    if (isClosed) return;
    if (refusal === undefined && tries <= triesMax) {
      if (wasReady) options.onLost();
      retryTimer = setTimeout(connect, Math.min(pauseMsFirst * 2 ** (tries - 1), pauseMsMax));
    } else end(refusal ?? problem ?? failure('connection_lost', 'the connection was lost'));
  };

  const close = (): void => {
    isClosed = true;
    clearTimeout(retryTimer);
    feed.stop();
    socket?.close();
    setTimeout(() => socket?.terminate(), closeMsMax).unref();
  };
  const end = (why: CliFailure): void => {
    close();
    options.onEnd(why);
  };

  connect();
  return {
    send: (action) => {
      if (!isReady || socket?.readyState !== WebSocket.OPEN) return false;
      socket.send(JSON.stringify(action));
      return true;
    },
    close,
  };
};

type SocketOptions = {
  readonly client: HttpClient;
  readonly sessionId: string;
  readonly since: number | undefined;
  readonly onText: (text: string) => void;
  readonly onEnd: (problem: CliFailure | undefined) => Promise<void>;
};

const openSocket = ({ client, sessionId, since, onText, onEnd }: SocketOptions): WebSocket => {
  const replay = since === undefined ? '' : `&since=${since}`;
  const url = `${client.url.replace(/^http/, 'ws')}/ws?sessionId=${segment(sessionId)}${replay}`;
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${client.token}` } });
  let problem: CliFailure | undefined;
  let hasAnswered = true;
  const heartbeat = setInterval(() => {
    if (socket.readyState !== WebSocket.OPEN) return;
    if (hasAnswered) socket.send(JSON.stringify({ action: 'ping' }));
    else socket.terminate();
    hasAnswered = false;
  }, pingMs);
  socket.on('message', (data) => {
    hasAnswered = true;
    onText(String(data));
  });
  socket.on('unexpected-response', (request, { statusCode }) => {
    problem = failure('connection_refused', `${client.url} refused the connection with HTTP ${statusCode}`);
    // Destroying the request alone would leave the socket connecting for ever.
    request.destroy();
    socket.terminate();
  });
  socket.on('error', (cause) => {
    problem ??= unreachable(client.url, cause);
  });
  socket.on('close', () => {
    clearInterval(heartbeat);
    void onEnd(problem);
  });
  return socket;
};

const refusalIn = ({ data }: Frame): CliFailure => {
  const body = readErrorBody(data);
  return body === undefined
    ? failure('unexpected_answer', 'the server refused without a reason')
    : new CliFailure(body);
};

const finalCodes = new Set(['unauthenticated', 'forbidden', 'session_not_found']);

/**
 * A refusal that will be the same next time; undefined when trying again may help. What a refused handshake says
 * is up to the gateway: the same question by REST gets a real answer.
 */
const refusalOf = async (
  client: HttpClient,
  sessionId: string,
  problem: CliFailure | undefined,
): Promise<CliFailure | undefined> => {
  if (problem?.body.error.code === 'unreachable') return undefined;
  try {
    await client.get(`/api/sessions/${segment(sessionId)}`);
    return undefined;
  } catch (error) {
    const refusal = toFailure(error);
    return finalCodes.has(refusal.body.error.code) ? refusal : undefined;
  }
};
