/**
 * A WebSocket connection from its upgrade to its end: messages to `$default`, limits, `$disconnect`.
 *
 * Messages of one connection are handed to the function at once and in parallel, so they may finish in any
 * order; that is how AWS does it, and hiding it here would hide a race from the tests. A2 to A5, A8 and A10
 * in docs/spec/aws.md.
 */
import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import type { FunctionHost } from '../lambda/function-host.ts';
import {
  type Authorization,
  type Connection,
  type ConnectionTable,
  makeRequestId,
  type OpenConnection,
} from './connection.ts';
import { openFrameReader } from './frame-size.ts';
import { invokeInTime } from './invoke-in-time.ts';
import type { WebSocketLimits } from './limits.ts';
import { disconnectEvent, messageEvent } from './websocket-event.ts';

export type AcceptedSocket = {
  readonly connection: Connection;
  readonly authorization: Authorization | undefined;
  readonly webSocket: WebSocket;
  /** The socket below, whose bytes are read a second time for the frame limit. */
  readonly stream: Duplex;
};

export type LiveOptions = {
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

export const goLive = (accepted: AcceptedSocket, options: LiveOptions): void => {
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
  table.add(open);
  cutLongFrames(accepted, limits);
  // A protocol error is followed by `close`, which says all there is to say.
  webSocket.on('error', () => undefined);
  webSocket.on('message', (data, isBinary) => {
    if (webSocket.readyState !== webSocket.OPEN) return;
    open.touch();
    if (isBinary) webSocket.close(closeUnsupportedData, 'Binary frames are not supported');
    else void deliver(open, text(data), options);
  });
  webSocket.on('close', (code, reason) => {
    clearTimeout(idle);
    clearTimeout(life);
    table.remove(open.id);
    sayGoodbye(open, { code, reason: reason.toString() }, options);
  });
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

const deliver = async (open: OpenConnection, body: string, options: LiveOptions): Promise<void> => {
  const requestId = makeRequestId();
  const event = messageEvent(body, { connection: open, requestId, authorization: open.authorization });
  const answer = await invokeInTime(options.functions, {
    name: options.functionName,
    event,
    timeoutMs: options.limits.integrationMsMax,
  }).catch(() => 'refused' as const);
  const complaint = complaintOf(answer);
  if (complaint === undefined || open.socket.readyState !== open.socket.OPEN) return;
  open.socket.send(JSON.stringify({ message: complaint, connectionId: open.id, requestId }));
};

type Answer = Awaited<ReturnType<typeof invokeInTime>> | 'refused';

const complaintOf = (answer: Answer): string | undefined => {
  if (answer === 'timed out') return 'Endpoint request timed out';
  return answer === 'refused' || answer.outcome.kind === 'failed' ? 'Internal server error' : undefined;
};

/** Best effort, as on AWS: nobody learns that it failed. */
const sayGoodbye = (
  open: OpenConnection,
  { code, reason }: { readonly code: number; readonly reason: string },
  { functions, functionName }: LiveOptions,
): void => {
  const said = reason === '' && code === closeNoStatus ? 'Client-side close frame status not set' : reason;
  const event = disconnectEvent(
    { code, reason: said },
    { connection: open, requestId: makeRequestId(), authorization: open.authorization },
  );
  functions.invoke(functionName, JSON.stringify(event)).catch(() => undefined);
};
