/**
 * The connections of one WebSocket API, their limits, and the @connections endpoint by which a function sends to them.
 *
 * A connection is made when `$connect` begins and is open only once it has returned. Before and after that a post to it
 * is answered 410 Gone, as AWS does (A1, A9 in docs/spec/aws.md). The endpoint listens apart from the public origin and
 * answers only requests that a key of this start has signed.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-how-to-call-websocket-api-connections.html
 */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WebSocket } from 'ws';
import type { Keys } from '../endpoint/account.ts';
import { AwsError, readBody } from '../endpoint/http-messages.ts';
import { type Endpoint, listenSigned } from '../endpoint/listen.ts';
import { urlOf } from './proxy-event.ts';

/** The stage of the API: a part of its path. */
export const stage = 'ws';

type Identity = { readonly sourceIp: string; readonly userAgent: string | null };

/** The principal and the context that the authorizer returned; every later event of the connection carries them. */
export type Authorization = Readonly<Record<string, string>>;

export type Connection = {
  readonly id: string;
  readonly connectedAt: number;
  readonly identity: Identity;
  readonly domainName: string;
};

export type OpenConnection = Connection & {
  readonly socket: WebSocket;
  readonly authorization: Authorization | undefined;
  lastActiveAt: number;
  /** Restarts the idle timeout. */
  readonly touch: () => void;
};

/** Open connections by their ids. */
export type ConnectionTable = Map<string, OpenConnection>;

/** As data, so that a test waits milliseconds instead of hours (A2, A3, A5). */
export type WebSocketLimits = {
  readonly messageBytesMax: number;
  readonly frameBytesMax: number;
  readonly idleMsMax: number;
  readonly lifeMsMax: number;
  readonly integrationMsMax: number;
  /** Unsent bytes of a slow client, over which posts to it are refused; AWS documents no number. */
  readonly sendBufferBytesMax: number;
};

const minuteMs = 60_000;

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-execution-service-websocket-limits-table.html */
export const webSocketLimits: WebSocketLimits = {
  messageBytesMax: 128 * 1024,
  frameBytesMax: 32 * 1024,
  idleMsMax: 10 * minuteMs,
  lifeMsMax: 120 * minuteMs,
  integrationMsMax: 29_000,
  sendBufferBytesMax: 1024 * 1024,
};

/** Ends with `=`, as those of AWS do, so a caller that does not encode it into a URL fails here too. */
export const makeConnectionId = (): string => `${randomBytes(11).toString('base64url')}=`;

const route = new RegExp(`^/${stage}/(?:@|%40)connections/([^/]+)$`);
const closeNormal = 1000;

type Backend = { readonly table: ConnectionTable; readonly limits: WebSocketLimits };

export const startManagement = (backend: Backend, keys: Keys | undefined): Promise<Endpoint> =>
  listenSigned((request, response) => answer(request, response, backend), { keys });

const answer = async (
  request: IncomingMessage,
  response: ServerResponse,
  { table, limits }: Backend,
): Promise<void> => {
  const [, encodedId] = route.exec(urlOf(request).pathname) ?? [];
  if (encodedId === undefined) throw new AwsError(403, 'ForbiddenException', 'Forbidden');
  const body = await readBody(request, limits.messageBytesMax);
  const connection = table.get(decodeURIComponent(encodedId));
  if (connection === undefined) throw new AwsError(410, 'GoneException');
  switch (request.method) {
    case 'POST':
      await post(connection, body, limits);
      response.writeHead(200).end();
      return;
    case 'GET':
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(describe(connection)));
      return;
    case 'DELETE':
      connection.socket.close(closeNormal, 'Connection Closed Normally');
      table.delete(connection.id);
      response.writeHead(204).end();
      return;
    default:
      throw new AwsError(403, 'ForbiddenException', 'Forbidden');
  }
};

const post = async (
  connection: OpenConnection,
  body: Buffer | undefined,
  limits: WebSocketLimits,
): Promise<void> => {
  if (body === undefined) throw new AwsError(413, 'PayloadTooLargeException', 'Message too long');
  const { socket } = connection;
  if (socket.readyState !== socket.OPEN) throw new AwsError(410, 'GoneException');
  if (socket.bufferedAmount > limits.sendBufferBytesMax) {
    throw new AwsError(429, 'LimitExceededException', 'The send buffer of the connection is full');
  }
  connection.touch();
  socket.send(body, { binary: false });
};

const describe = ({ connectedAt, lastActiveAt, identity }: OpenConnection) => ({
  connectedAt: new Date(connectedAt).toISOString(),
  lastActiveAt: new Date(lastActiveAt).toISOString(),
  identity: { sourceIp: identity.sourceIp, userAgent: identity.userAgent ?? '' },
});
