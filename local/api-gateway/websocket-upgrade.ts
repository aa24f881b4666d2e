/**
 * The way of a WebSocket client in: authorizer, `$connect`, and only then the upgrade.
 *
 * A refusal at either step is a plain HTTP answer. The subprotocol is the one that the `$connect` function
 * names in its answer; without one none is agreed on, whatever the client offered (A7).
 */
import type { IncomingMessage } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { FunctionHost } from '../lambda/function-host.ts';
import type { Buffered } from '../lambda/invocation.ts';
import { readVerdict } from './authorizer.ts';
import { type Authorization, type Connection, makeConnectionId, makeRequestId } from './connection.ts';
import { invokeInTime } from './invoke-in-time.ts';
import type { WebSocketLimits } from './limits.ts';
import type { AcceptedSocket } from './live-connection.ts';
import { sourceIpOf } from './request-maps.ts';
import { authorizerEvent, connectEvent, disconnectEvent } from './websocket-event.ts';

export type WebSocketRoutes = { readonly authorizer?: string; readonly functionName: string };

export type UpgradeOptions = {
  readonly functions: FunctionHost;
  readonly routes: WebSocketRoutes;
  readonly limits: WebSocketLimits;
  readonly accept: (accepted: AcceptedSocket) => void;
};

export type Handshake = { readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer };

type Refusal = { readonly status: number; readonly message: string; readonly retryAfter?: string };

type Entry =
  | {
      readonly kind: 'allowed';
      readonly authorization: Authorization | undefined;
      readonly protocol: string | undefined;
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

const internalError: Refusal = { status: 500, message: 'Internal server error' };

export const openUpgrade = (options: UpgradeOptions): ((handshake: Handshake) => Promise<void>) => {
  const agreed = new WeakMap<IncomingMessage, string>();
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: options.limits.messageBytesMax,
    handleProtocols: (_offered, request) => agreed.get(request) ?? false,
  });
  return async ({ request, socket, head }) => {
    socket.on('error', () => socket.destroy());
    const connection = describeConnection(request);
    const requestId = makeRequestId();
    const entry = await enter(request, { connection, requestId }, options).catch(() =>
      refused(internalError),
    );
    if (entry.kind === 'refused') {
      refuse(socket, entry.refusal, { connectionId: connection.id, requestId });
      return;
    }
    const { authorization, protocol } = entry;
    if (socket.destroyed) {
      leaveUnseen(options, { connection, requestId, authorization });
      return;
    }
    if (protocol !== undefined) agreed.set(request, protocol);
    let isOpen = false;
    server.handleUpgrade(request, socket, head, (webSocket) => {
      isOpen = true;
      options.accept({ connection, authorization, webSocket, stream: socket });
    });
    if (!isOpen) leaveUnseen(options, { connection, requestId, authorization });
  };
};

const describeConnection = (request: IncomingMessage): Connection => ({
  id: makeConnectionId(),
  connectedAt: Date.now(),
  identity: { sourceIp: sourceIpOf(request), userAgent: request.headers['user-agent'] ?? null },
  domainName: request.headers.host ?? '127.0.0.1',
});

type Context = { readonly connection: Connection; readonly requestId: string };

const enter = async (request: IncomingMessage, context: Context, options: UpgradeOptions): Promise<Entry> => {
  const { functions, routes, limits } = options;
  let authorization: Authorization | undefined;
  if (routes.authorizer !== undefined) {
    const event = authorizerEvent(request, context);
    const answer = await invokeInTime(functions, {
      name: routes.authorizer,
      event,
      timeoutMs: limits.integrationMsMax,
    });
    if (answer === 'timed out') return refused(internalError);
    const verdict = readVerdict(answer, event.methodArn);
    if (verdict.kind === 'refused') return refused(verdict);
    authorization = verdict.authorization;
  }
  const event = connectEvent(request, { ...context, authorization });
  const answer = await invokeInTime(functions, {
    name: routes.functionName,
    event,
    timeoutMs: limits.integrationMsMax,
  });
  if (answer === 'timed out') return refused({ status: 504, message: 'Endpoint request timed out' });
  return readConnectAnswer(answer, authorization);
};

type ConnectAnswer = { readonly statusCode?: unknown; readonly headers?: Readonly<Record<string, unknown>> };

const readConnectAnswer = (
  { outcome, payload }: Buffered,
  authorization: Authorization | undefined,
): Entry => {
  if (outcome.kind === 'failed') return refused(internalError);
  const answer = JSON.parse(payload) as ConnectAnswer | null;
  const status = Number(answer?.statusCode);
  if (!Number.isInteger(status)) return refused(internalError);
  const retryAfter = headerOf(answer, 'retry-after');
  const message = STATUS_CODES[status] ?? 'Refused';
  if (status >= 400) return refused({ status, message, ...(retryAfter && { retryAfter }) });
  return { kind: 'allowed', authorization, protocol: headerOf(answer, 'sec-websocket-protocol') };
};

const headerOf = (answer: ConnectAnswer | null, wanted: string): string | undefined => {
  const value = Object.entries(answer?.headers ?? {}).find(([name]) => name.toLowerCase() === wanted)?.[1];
  return value === undefined ? undefined : String(value);
};

const refused = (refusal: Refusal): Entry => ({ kind: 'refused', refusal });

const refuse = (
  socket: Duplex,
  { status, message, retryAfter }: Refusal,
  ids: Readonly<Record<string, string>>,
): void => {
  const body = JSON.stringify({ message, ...ids });
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      ...(retryAfter === undefined ? [] : [`Retry-After: ${retryAfter}`]),
      '',
      body,
    ].join('\r\n'),
  );
};

/** The client left while `$connect` ran, or what it sent is no handshake: the function has let it in, so it is told that it is gone. */
const leaveUnseen = (
  { functions, routes }: UpgradeOptions,
  context: Context & { readonly authorization: Authorization | undefined },
): void => {
  const event = disconnectEvent({ code: 1006, reason: 'Connection closed before the handshake' }, context);
  functions.invoke(routes.functionName, JSON.stringify(event)).catch(() => undefined);
};
