/**
 * A connection to the WebSocket of a deployment, which reconnects by itself until another try cannot help.
 *
 * Each try takes a new ticket. The connection reports its state and passes frames on; their meaning is decided elsewhere.
 */

import type { ApiClient, SocketLike } from './api-client.ts';
import { connectionLost, SallyportError } from './errors.ts';
import type { ClientAction, Frame, FrameOf } from './frames.ts';
import { api } from './routes.ts';

export type ConnectionState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected' }
  /**
   * So many tries in a row have failed; the next one is at this time, in epoch milliseconds. `isBlocked`: the deployment
   * answers, and its socket does not open. `isBusy`: it refused the last try for now.
   */
  | {
      readonly kind: 'lost';
      readonly failures: number;
      readonly nextAt: number;
      readonly isBlocked: boolean;
      readonly isBusy: boolean;
    }
  | { readonly kind: 'ended'; readonly error: SallyportError };

export type ConnectionOptions = {
  /** Of the next try. */
  readonly query: () => Readonly<Record<string, string>>;
  /** The frame with which the server says that the connection stands. */
  readonly greeting: Frame['type'];
  /** Refuses for the same reasons as the connection, and gives the reason: a refused socket does not. */
  readonly probe: () => Promise<unknown>;
  readonly onFrame: (frame: Frame) => void;
  readonly onState: (state: ConnectionState) => void;
  /** More failed tries in a row end it; absent: any number may fail. */
  readonly failuresMax?: number;
  /** A gateway closes a connection that was silent for 10 minutes. */
  readonly pingMs?: number;
};

export type Connection = {
  readonly isReady: () => boolean;
  /** False when there is no connection to send it over. */
  readonly send: (action: ClientAction) => boolean;
  /** For one that waits for its next try, and to see at once whether one that stands still does. */
  readonly tryNow: () => void;
  readonly close: () => void;
};

/** Another try of these would end as this one did. */
const finalStatuses: readonly number[] = [400, 401, 403, 404];
/** The pauses between tries; the last one is repeated. */
const pausesMs = [300, 1000, 2000, 4000, 8000, 15_000] as const;
const pingMsDefault = 4 * 60_000;
const pongMsMax = 10_000;
/**
 * The greeting comes from a function that the gateway starts separately. If it never comes, a gateway keeps the socket for
 * minutes.
 */
const greetingMsMax = 30_000;

/** Chance keeps all clients of a restarted server from coming back at the same moment. */
const pauseAfter = (tries: number): number =>
  (pausesMs[Math.min(tries, pausesMs.length) - 1] ?? 0) * (0.8 + 0.4 * Math.random());

export const openConnection = (sallyport: ApiClient, options: ConnectionOptions): Connection => {
  const { greeting, onFrame, onState } = options;
  let socket: ListenedSocket | undefined;
  let isReady = false;
  let isClosed = false;
  let failures = 0;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;

  const connect = async (): Promise<void> => {
    retryTimer = undefined;
    try {
      const [{ ticket }] = await Promise.all([sallyport.request(api.makeTicket), options.probe()]);
      if (isClosed) return;
      const opened = sallyport.openSocket(ticket, options.query());
      socket = listen(opened, { onFrame: receive, onClosed: () => lose(connectionLost(), !isReady) });
      heartbeat.expect(greetingMsMax);
    } catch (error) {
      const failure = error instanceof SallyportError ? error : connectionLost(error);
      if (finalStatuses.includes(failure.status)) end(failure);
      else lose(failure);
    }
  };

  const receive = (received: Received): void => {
    heartbeat.heard();
    const frame = 'type' in received ? received : failureFrame(received);
    if (frame.type === 'error' && !isReady) {
      if (frame !== received) lose(connectionLost());
      else end(new SallyportError(0, frame.data.error));
      return;
    }
    if (frame.type === greeting && !isReady) {
      isReady = true;
      failures = 0;
      onState({ kind: 'connected' });
    }
    onFrame(frame);
  };

  const lose = (error: SallyportError, isBlocked = false): void => {
    leave();
    if (isClosed) return;
    failures += 1;
    if (failures > (options.failuresMax ?? Number.POSITIVE_INFINITY)) end(error);
    else waitForNextTry(isBlocked, error);
  };

  const waitForNextTry = (isBlocked: boolean, { retryAfterMs }: SallyportError): void => {
    const isBusy = retryAfterMs !== undefined;
    // A server that says when to come back is back: the pauses that grew while it was away are over.
    const waitMs = isBusy ? retryAfterMs + pauseAfter(1) : pauseAfter(failures);
    retryTimer = setTimeout(() => void connect(), waitMs);
    onState({ kind: 'lost', failures, nextAt: Date.now() + waitMs, isBlocked, isBusy });
  };

  const leave = (): void => {
    isReady = false;
    heartbeat.heard();
    socket?.leave();
    socket = undefined;
  };

  const close = (): void => {
    isClosed = true;
    clearTimeout(retryTimer);
    heartbeat.stop();
    leave();
  };

  const end = (error: SallyportError): void => {
    if (isClosed) return;
    close();
    onState({ kind: 'ended', error });
  };

  const send = (action: ClientAction): boolean => isReady && socket?.send(action) === true;

  const heartbeat = startHeartbeat({
    everyMs: options.pingMs ?? pingMsDefault,
    ping: () => send({ action: 'ping' }),
    onSilence: () => lose(connectionLost(), !isReady),
  });

  onState({ kind: 'connecting' });
  void connect();
  return {
    isReady: () => isReady,
    send,
    tryNow: () => {
      if (retryTimer === undefined) heartbeat.beat();
      else {
        clearTimeout(retryTimer);
        void connect();
      }
    },
    close,
  };
};

/** The gateway's own frame, when the function that took one of ours failed or was too late: it does not name that frame. A5. */
type GatewayFailure = { readonly message: string; readonly requestId?: string };
type Received = Frame | GatewayFailure;

const failureFrame = ({ message, requestId }: GatewayFailure): FrameOf<'error'> => ({
  ...{ type: 'error', sessionId: null, seq: null, at: new Date().toISOString() },
  data: {
    error: {
      code: 'internal_error',
      message: `what was sent may not have been done: ${message}`,
      suggestions: ['Check whether it was done. If not, send it again.'],
      recoveryActions: [],
      ...(requestId === undefined ? {} : { requestId }),
    },
  },
});

type ListenedSocket = {
  readonly send: (action: ClientAction) => boolean;
  /** It says nothing more, whatever is still delivered. */
  readonly leave: () => void;
};

/** As every WebSocket numbers its states. */
const [connecting, open] = [0, 1];

const listen = (
  socket: SocketLike,
  on: { readonly onFrame: (frame: Received) => void; readonly onClosed: () => void },
): ListenedSocket => {
  let isLeft = false;
  socket.addEventListener('message', ({ data }) => {
    if (!isLeft) on.onFrame(JSON.parse(String(data)));
  });
  socket.addEventListener('close', () => {
    if (!isLeft) on.onClosed();
  });
  // The event `close` follows; without a listener an error of the package `ws` would end the program.
  socket.addEventListener('error', () => undefined);
  return {
    send: (action) => {
      if (socket.readyState !== open) return false;
      socket.send(JSON.stringify(action));
      return true;
    },
    leave: () => {
      isLeft = true;
      // In a browser, one that is still connecting cannot be closed without an error in the console.
      if (socket.readyState === connecting) socket.addEventListener('open', () => socket.close());
      else socket.close();
    },
  };
};

/** A socket that died silently stays open for minutes; any frame counts as an answer. */
const startHeartbeat = ({
  everyMs,
  ping,
  onSilence,
}: {
  readonly everyMs: number;
  /** False when there is nothing to ask. */
  readonly ping: () => boolean;
  readonly onSilence: () => void;
}) => {
  let deadline: ReturnType<typeof setTimeout> | undefined;
  const heard = (): void => clearTimeout(deadline);
  /** Any frame within this time. */
  const expect = (withinMs: number): void => {
    heard();
    deadline = setTimeout(onSilence, withinMs);
  };
  const beat = (): void => {
    if (ping()) expect(pongMsMax);
  };
  const timer = setInterval(beat, everyMs);
  return {
    beat,
    expect,
    heard,
    stop: () => {
      heard();
      clearInterval(timer);
    },
  };
};
