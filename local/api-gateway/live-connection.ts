/**
 * A WebSocket connection from its upgrade to its end: messages to `$default`, limits, `$disconnect`.
 *
 * The messages of one connection are sent to the function at once and in parallel, so they may finish in any order;
 * AWS does the same, and hiding it here would hide a race from the tests. A2 to A5, A8 and A10 in docs/spec/aws.md.
 */
import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import type { FunctionHost } from '../lambda/function-host.ts';
import type {
  Authorization,
  Connection,
  ConnectionTable,
  OpenConnection,
  WebSocketLimits,
} from './connection.ts';
import { disconnectEvent, invokeInTime, messageEvent } from './websocket-event.ts';

export type AcceptedSocket = {
  readonly connection: Connection;
  readonly authorization: Authorization | undefined;
  readonly webSocket: WebSocket;
  /** The socket below, whose bytes are read a second time for the frame limit. */
  readonly stream: Duplex;
};

type LiveOptions = {
  readonly functions: FunctionHost;
  readonly functionName: string;
  readonly limits: WebSocketLimits;
  readonly table: ConnectionTable;
};

const closeGoingAway = 1001;
/** Assumption A4 of docs/spec/aws.md. */
const closeUnsupportedData = 1003;
const closeTooLarge = 1009;
const closeNoStatus = 1005;

export const serveConnection = (accepted: AcceptedSocket, options: LiveOptions): void => {
  const { connection, authorization, webSocket } = accepted;
  const { limits, table } = options;
  const goAway = (): void => webSocket.close(closeGoingAway, 'Going away');
  const idle = setTimeout(goAway, limits.idleMsMax);
  const life = setTimeout(goAway, limits.lifeMsMax);
  const open: OpenConnection = {
    ...connection,
    socket: webSocket,
    authorization,
    lastActiveAt: Date.now(),
    touch: () => {
      open.lastActiveAt = Date.now();
      idle.refresh();
    },
  };
  table.set(open.id, open);
  cutLongFrames(accepted, limits);
  // `close` follows a protocol error and ends the connection.
  webSocket.on('error', () => undefined);
  let receivedAt = 0;
  webSocket.on('message', (data, isBinary) => {
    if (webSocket.readyState !== webSocket.OPEN) return;
    open.touch();
    if (isBinary) webSocket.close(closeUnsupportedData, 'Binary frames are not supported');
    else {
      receivedAt = nextReceipt(receivedAt);
      void deliver(open, { body: text(data), receivedAt }, options);
    }
  });
  webSocket.on('close', (code, reason) => {
    clearTimeout(idle);
    clearTimeout(life);
    table.delete(open.id);
    sendDisconnect(open, { code, reason: reason.toString() }, options);
  });
};

/** Messages come over a loopback in the same millisecond; over a network they would come one after the other. */
const receiptAheadMsMax = 50;

const nextReceipt = (last: number): number => {
  const now = Date.now();
  return Math.max(now, Math.min(last + 1, now + receiptAheadMsMax));
};

const cutLongFrames = ({ webSocket, stream }: AcceptedSocket, { frameBytesMax }: WebSocketLimits): void => {
  const reader = openFrameReader(frameBytesMax);
  // Ahead of the listener of `ws`, so that the frame is refused before its message is delivered.
  stream.prependListener('data', (chunk: Buffer) => {
    if (webSocket.readyState === webSocket.OPEN && reader.read(chunk)) {
      webSocket.close(closeTooLarge, 'Frame is too large');
    }
  });
};

const text = (data: RawData): string =>
  (Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer)).toString();

type Message = { readonly body: string; readonly receivedAt: number };

const deliver = async (
  open: OpenConnection,
  { body, receivedAt }: Message,
  options: LiveOptions,
): Promise<void> => {
  const requestId = randomUUID();
  const event = messageEvent(body, {
    ...{ connection: open, requestId, receivedAt, authorization: open.authorization },
  });
  const answer = await invokeInTime(options.functions, {
    name: options.functionName,
    event,
    timeoutMs: options.limits.integrationMsMax,
  }).catch(() => 'refused' as const);
  const error = errorOf(answer);
  if (error === undefined || open.socket.readyState !== open.socket.OPEN) return;
  open.socket.send(JSON.stringify({ message: error, connectionId: open.id, requestId }));
};

type Answer = Awaited<ReturnType<typeof invokeInTime>> | 'refused';

const errorOf = (answer: Answer): string | undefined => {
  if (answer === 'timed out') return 'Endpoint request timed out';
  return answer === 'refused' || answer.outcome.kind === 'failed' ? 'Internal server error' : undefined;
};

/** Best effort, as on AWS: a failure is not reported. */
const sendDisconnect = (
  open: OpenConnection,
  { code, reason }: { readonly code: number; readonly reason: string },
  { functions, functionName }: LiveOptions,
): void => {
  const shownReason =
    reason === '' && code === closeNoStatus ? 'Client-side close frame status not set' : reason;
  const event = disconnectEvent(
    { code, reason: shownReason },
    { connection: open, requestId: randomUUID(), authorization: open.authorization },
  );
  functions.invoke(functionName, JSON.stringify(event)).catch(() => undefined);
};

/**
 * A reader of WebSocket frame headers that only looks at their lengths (RFC 6455, section 5.2).
 *
 * The `ws` package delivers whole messages, so it would accept a frame over 32 KB inside an allowed message.
 * This reader sees the same bytes and reports the first frame that is too long.
 */
type FrameReader = {
  /** True as soon as one frame announces more than the limit. */
  readonly read: (chunk: Uint8Array) => boolean;
};

const maskBit = 0x80;
const maskBytes = 4;
const shortLengthMax = 125;
const length16 = 126;

export const openFrameReader = (frameBytesMax: number): FrameReader => {
  let header: number[] = [];
  /** Bytes of mask and payload still to come. */
  let skip = 0;
  let isTooLong = false;

  const readHeaderByte = (byte: number): void => {
    header.push(byte);
    const length = payloadLength(header);
    if (length === undefined) return;
    isTooLong ||= length > frameBytesMax;
    skip = length + (isMasked(header) ? maskBytes : 0);
    header = [];
  };

  return {
    read: (chunk) => {
      let offset = 0;
      while (offset < chunk.length && !isTooLong) {
        if (skip > 0) {
          const step = Math.min(skip, chunk.length - offset);
          skip -= step;
          offset += step;
        } else {
          readHeaderByte(chunk[offset] ?? 0);
          offset += 1;
        }
      }
      return isTooLong;
    },
  };
};

const isMasked = (header: readonly number[]): boolean => ((header[1] ?? 0) & maskBit) !== 0;

/** Undefined until all length bytes of the header are there. */
const payloadLength = (header: readonly number[]): number | undefined => {
  if (header.length < 2) return undefined;
  const short = (header[1] ?? 0) & ~maskBit;
  if (short <= shortLengthMax) return short;
  const extended = header.slice(2);
  if (extended.length < (short === length16 ? 2 : 8)) return undefined;
  return extended.reduce((length, byte) => length * 256 + byte, 0);
};
