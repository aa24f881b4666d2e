/**
 * The events that a WebSocket API sends to functions (authorizer, `$connect`, `$default`, `$disconnect`), and their
 * invocation.
 *
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-websocket-api-lambda-auth.html
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-websocket-api-mapping-template-reference.html
 */

import type { IncomingMessage } from 'node:http';
import type { Buffered } from '../lambda/function.ts';
import type { FunctionHost } from '../lambda/function-host.ts';
import { type Authorization, type Connection, stage } from './connection.ts';
import { mapRequest } from './proxy-event.ts';

const apiId = 'local';
const methodArn = `arn:aws:execute-api:us-east-1:000000000000:${apiId}/${stage}/$connect`;

type RouteContext = {
  readonly connection: Connection;
  readonly requestId: string;
  readonly authorization?: Authorization | undefined;
  /** In epoch milliseconds; absent: now. */
  readonly receivedAt?: number;
};

export const authorizerEvent = (request: IncomingMessage, context: RouteContext) => ({
  type: 'REQUEST',
  methodArn,
  ...handshakeMaps(request),
  stageVariables: {},
  requestContext: requestContext(context, { routeKey: '$connect', eventType: 'CONNECT' }),
});

export const connectEvent = (request: IncomingMessage, context: RouteContext) => ({
  ...handshakeMaps(request),
  requestContext: requestContext(context, { routeKey: '$connect', eventType: 'CONNECT' }),
  isBase64Encoded: false,
});

export const messageEvent = (body: string, context: RouteContext) => ({
  requestContext: {
    ...requestContext(context, { routeKey: '$default', eventType: 'MESSAGE' }),
    messageId: `${context.requestId.slice(0, 14)}=`,
  },
  body,
  isBase64Encoded: false,
});

type Closing = { readonly code: number; readonly reason: string };

export const disconnectEvent = ({ code, reason }: Closing, context: RouteContext) => ({
  headers: { Host: context.connection.domainName },
  requestContext: {
    ...requestContext(context, { routeKey: '$disconnect', eventType: 'DISCONNECT' }),
    disconnectStatusCode: code,
    disconnectReason: reason,
  },
  isBase64Encoded: false,
});

/** The event of a handshake without a query has no query fields; in a REST event they are null. */
const handshakeMaps = (request: IncomingMessage) => {
  const { headers, multiValueHeaders, queryStringParameters, multiValueQueryStringParameters } =
    mapRequest(request);
  if (queryStringParameters === null) return { headers, multiValueHeaders };
  return { headers, multiValueHeaders, queryStringParameters, multiValueQueryStringParameters };
};

type Route = { readonly routeKey: string; readonly eventType: string };

const requestContext = (
  { connection, requestId, authorization, receivedAt: now = Date.now() }: RouteContext,
  route: Route,
) => {
  return {
    ...route,
    ...(authorization === undefined ? {} : { authorizer: authorization }),
    extendedRequestId: requestId,
    requestTime: new Date(now).toISOString(),
    messageDirection: 'IN',
    stage,
    connectedAt: connection.connectedAt,
    requestTimeEpoch: now,
    identity: connection.identity,
    requestId,
    domainName: connection.domainName,
    connectionId: connection.id,
    apiId,
  };
};

/** Invokes a function and waits 29 seconds from its start for its result. The function itself runs on after them, as on AWS. */
export const invokeInTime = async (
  functions: FunctionHost,
  { name, event, timeoutMs }: { readonly name: string; readonly event: unknown; readonly timeoutMs: number },
): Promise<Buffered | 'timed out'> => {
  const { promise, resolve } = Promise.withResolvers<'timed out'>();
  let timer: NodeJS.Timeout | undefined;
  const started = (): void => {
    timer = setTimeout(() => resolve('timed out'), timeoutMs);
  };
  try {
    return await Promise.race([functions.invoke(name, JSON.stringify(event), { started }), promise]);
  } finally {
    clearTimeout(timer);
  }
};
