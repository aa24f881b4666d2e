/**
 * A connection to the gateway that comes back by itself.
 *
 * It hands on frames as they come. It ends when the server refuses for good, or when trying again has not helped for long.
 */
import { WebSocket } from 'ws';
import { CliFailure, failure, readErrorBody, toFailure } from '../failure.ts';
import { type HttpClient, unreachable } from '../http-client.ts';
import type { Frame } from './event-order.ts';

export type Action = { readonly action: string } & Readonly<Record<string, unknown>>;

export type GatewayLink = {
  /** False when there is no connection at the moment. */
  readonly send: (action: Action) => boolean;
  readonly close: () => void;
};

export type LinkOptions = {
  readonly client: HttpClient;
  /** Of the next connection. */
  readonly query: () => string;
  /** The frame with which the server says that the connection stands. */
  readonly greeting: string;
  /** By REST: refuses for the same reasons as the connection, and says why. */
  readonly probe: string;
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

export const openGatewayLink = (options: LinkOptions): GatewayLink => {
  const { onFrame, greeting } = options;
  let socket: WebSocket | undefined;
  let isReady = false;
  let isClosed = false;
  let tries = 0;
  let retryTimer: NodeJS.Timeout | undefined;

  const connect = (): void => {
    socket = openSocket({ ...options, onText: receive, onClosed: lose });
  };

  const receive = (text: string): void => {
    const frame = JSON.parse(text) as Frame;
    if (frame.type === 'error' && !isReady) {
      end(refusalIn(frame));
      return;
    }
    if (frame.type === greeting) {
      isReady = true;
      tries = 0;
    }
    onFrame(frame);
  };

  const lose = async (problem: CliFailure | undefined): Promise<void> => {
    if (isClosed) return;
    const wasReady = isReady;
    isReady = false;
    tries += 1;
    const refusal = wasReady ? undefined : await refusalOf(options, problem);
    if (isClosed) return;
    if (refusal === undefined && tries <= triesMax) {
      if (wasReady) options.onLost();
      retryTimer = setTimeout(connect, Math.min(pauseMsFirst * 2 ** (tries - 1), pauseMsMax));
    } else end(refusal ?? problem ?? failure('connection_lost', 'the connection was lost'));
  };

  const close = (): void => {
    isClosed = true;
    clearTimeout(retryTimer);
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

type SocketOptions = Pick<LinkOptions, 'client' | 'query'> & {
  readonly onText: (text: string) => void;
  readonly onClosed: (problem: CliFailure | undefined) => Promise<void>;
};

const openSocket = ({ client, query, onText, onClosed }: SocketOptions): WebSocket => {
  const url = `${client.url.replace(/^http/, 'ws')}/ws?${query()}`;
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
    void onClosed(problem);
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
 * A refusal that will be the same next time; undefined when trying again may help. The gateway decides
 * what a refused handshake says: the same question by REST gets a real answer.
 */
const refusalOf = async (
  { client, probe }: Pick<LinkOptions, 'client' | 'probe'>,
  problem: CliFailure | undefined,
): Promise<CliFailure | undefined> => {
  if (problem?.body.error.code === 'unreachable') return undefined;
  try {
    await client.get(probe);
    return undefined;
  } catch (error) {
    const refusal = toFailure(error);
    return finalCodes.has(refusal.body.error.code) ? refusal : undefined;
  }
};
