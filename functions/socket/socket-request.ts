/** A WebSocket event as this function needs it: the principal, the connection, the session, and the text. */
import type {
  APIGatewayEventWebsocketRequestContextV2,
  APIGatewayProxyWebsocketEventV2WithRequestContext,
} from 'aws-lambda';
import { contextPrincipal, offeredSubprotocols } from '#shared/contracts/credentials.ts';
import { decodeStored } from '#shared/contracts/decode.ts';
import { givenQuery } from '#shared/contracts/fields.ts';
import type { ConnectionId, SessionId } from '#shared/domain/ids.ts';
import type { Principal } from '#shared/domain/principal.ts';

/** The authorizer's context, as API Gateway passes it to every route. */
export type SocketContext = APIGatewayEventWebsocketRequestContextV2 & {
  readonly authorizer?: Readonly<Record<string, unknown>>;
  readonly requestTimeEpoch: number;
};

export type SocketRequest = {
  readonly connectionId: ConnectionId;
  readonly principal: Principal;
  /**
   * As the client gave it, in lower case, or new: not yet known to be a session's. Undefined for a connection
   * without one.
   */
  readonly sessionId: SessionId | undefined;
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly subprotocols: readonly string[];
  readonly body: string;
  readonly connectedAt: number;
  readonly acceptedAt: number;
  readonly correlationId: string;
};

type SocketEvent = APIGatewayProxyWebsocketEventV2WithRequestContext<SocketContext> & {
  readonly queryStringParameters?: Readonly<Record<string, string | undefined>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
};

/** API Gateway passes no missing value on: an empty one stands for none. */
const sessionIdIn = (authorizer: SocketContext['authorizer']): SessionId | undefined => {
  const id = String(authorizer?.['sessionId'] ?? '');
  return id === '' ? undefined : (id as SessionId);
};

export const decodeSocketEvent = (event: SocketEvent): SocketRequest => {
  const { connectionId, authorizer, connectedAt, requestTimeEpoch, requestId } = event.requestContext;
  return {
    connectionId: connectionId as ConnectionId,
    principal: decodeStored(contextPrincipal, authorizer),
    sessionId: sessionIdIn(authorizer),
    query: givenQuery(event.queryStringParameters),
    subprotocols: offeredSubprotocols(event.headers ?? null),
    body: event.body ?? '',
    connectedAt,
    acceptedAt: requestTimeEpoch,
    correlationId: requestId,
  };
};
