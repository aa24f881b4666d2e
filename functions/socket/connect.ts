/**
 * `$connect`: finds or creates the session, stores the connection, and invokes on-connected. Refusals are HTTP
 * answers.
 */

import type { APIGatewayProxyResult } from 'aws-lambda';
import { recordRefusal } from '#shared/application/access/record-refusal.ts';
import { throttle } from '#shared/application/access/throttle.ts';
import { openApprovalConnection, openConnection } from '#shared/application/connection/open-connection.ts';
import type { Deps, SessionDeps } from '#shared/application/deps.ts';
import type { SessionDefaults } from '#shared/application/session/create-session.ts';
import { socketSubprotocol } from '#shared/contracts/credentials.ts';
import { decode } from '#shared/contracts/decode.ts';
import { connectionQuery } from '#shared/contracts/socket-actions.ts';
import { AppError, errorBody, errorStatus, isAppError } from '#shared/errors.ts';
import type { SocketRequest } from './socket-request.ts';

export type ConnectPorts = SessionDeps & Deps<'invoker' | 'rateLimiter'>;

export const connect = async (
  ports: ConnectPorts,
  request: SocketRequest,
  defaults: SessionDefaults,
): Promise<APIGatewayProxyResult> => {
  try {
    await open(ports, request, defaults);
  } catch (error) {
    recordRefusal(ports.telemetry, error, { resource: '$connect' });
    if (!isAppError(error)) throw error;
    const statusCode = errorStatus(error);
    const headers = statusCode === 429 ? { 'Retry-After': '1' } : {};
    return { statusCode, headers, body: JSON.stringify(errorBody(error, request.correlationId)) };
  }
  const headers = request.subprotocols.includes(socketSubprotocol)
    ? { 'Sec-WebSocket-Protocol': socketSubprotocol }
    : {};
  return { statusCode: 200, headers, body: '' };
};

const open = async (
  ports: ConnectPorts,
  { connectionId, principal, sessionId, query }: SocketRequest,
  defaults: SessionDefaults,
): Promise<void> => {
  const decoded = decode(connectionQuery, query);
  if (!decoded.ok) throw new AppError('invalid_request', decoded.problem);
  const { since, sessionId: named, approvals: _, ...options } = decoded.value;
  await throttle(ports, principal);
  if (sessionId === undefined) await openApprovalConnection(ports, { connectionId, principal });
  else {
    const isNew = named === undefined;
    await openConnection(ports, { connectionId, sessionId, isNew, principal, options, since }, defaults);
  }
  await ports.invoker.connected(connectionId);
};
