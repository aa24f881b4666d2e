/**
 * The @connections endpoint: how a function talks to a connected client (A1, A9).
 *
 * It listens apart from the public origin and answers who signs with a key of this start.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-how-to-call-websocket-api-connections.html
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AwsError } from '../endpoint/aws-error.ts';
import type { Keys } from '../endpoint/keys.ts';
import { type Listening, listenSigned } from '../endpoint/listen.ts';
import { readBody } from '../endpoint/request-body.ts';
import type { ConnectionTable, OpenConnection } from './connection.ts';
import type { WebSocketLimits } from './limits.ts';
import { urlOf } from './request-maps.ts';
import { stage } from './websocket-event.ts';

const route = new RegExp(`^/${stage}/(?:@|%40)connections/([^/]+)$`);
const closeNormal = 1000;

type Backing = { readonly table: ConnectionTable; readonly limits: WebSocketLimits };

export const startManagement = (backing: Backing, keys: Keys): Promise<Listening> =>
  listenSigned((request, response) => answer(request, response, backing), { keys });

const answer = async (
  request: IncomingMessage,
  response: ServerResponse,
  { table, limits }: Backing,
): Promise<void> => {
  const [, encodedId] = route.exec(urlOf(request).pathname) ?? [];
  if (encodedId === undefined) throw new AwsError(403, 'ForbiddenException', { message: 'Forbidden' });
  const body = await readBody(request, limits.messageBytesMax);
  const connection = table.find(decodeURIComponent(encodedId));
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
      table.remove(connection.id);
      response.writeHead(204).end();
      return;
    default:
      throw new AwsError(403, 'ForbiddenException', { message: 'Forbidden' });
  }
};

const post = async (
  connection: OpenConnection,
  body: Buffer | undefined,
  limits: WebSocketLimits,
): Promise<void> => {
  if (body === undefined)
    throw new AwsError(413, 'PayloadTooLargeException', { message: 'Message too long' });
  const { socket } = connection;
  if (socket.readyState !== socket.OPEN) throw new AwsError(410, 'GoneException');
  if (socket.bufferedAmount > limits.sendBufferBytesMax) {
    throw new AwsError(429, 'LimitExceededException', {
      message: 'The send buffer of the connection is full',
    });
  }
  connection.touch();
  socket.send(body, { binary: false });
};

const describe = ({ connectedAt, lastActiveAt, identity }: OpenConnection) => ({
  connectedAt: new Date(connectedAt).toISOString(),
  lastActiveAt: new Date(lastActiveAt).toISOString(),
  identity: { sourceIp: identity.sourceIp, userAgent: identity.userAgent ?? '' },
});
