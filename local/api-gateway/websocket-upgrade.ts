/**
 * The handshake of a WebSocket client: the authorizer, then `$connect`, then the upgrade.
 *
 * A refusal at either step is a plain HTTP answer. The subprotocol is the one that the `$connect` function returns;
 * without one no subprotocol is agreed on, whatever the client offered (A7). The authorizer's policy is read as API
 * Gateway reads it: an explicit Deny beats any Allow; the policy must cover the `$connect` ARN; context values are
 * scalars and arrive as strings. A function that throws `Unauthorized` is 401, any other failure of it 500 (A6).
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-lambda-authorizer-output.html
 */

import { randomUUID } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { Buffered } from '../lambda/function.ts';
import type { FunctionHost } from '../lambda/function-host.ts';
import { type Authorization, type Connection, makeConnectionId, type WebSocketLimits } from './connection.ts';
import type { AcceptedSocket } from './live-connection.ts';
import { sourceIpOf } from './proxy-event.ts';
import { authorizerEvent, connectEvent, disconnectEvent, invokeInTime } from './websocket-event.ts';

export type WebSocketRoutes = { readonly authorizer?: string; readonly functionName: string };

type UpgradeOptions = {
  readonly functions: FunctionHost;
  readonly routes: WebSocketRoutes;
  readonly limits: WebSocketLimits;
  readonly accept: (accepted: AcceptedSocket) => void;
};

type Handshake = { readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer };

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
    const connection = describeConnection(request);
    const requestId = randomUUID();
    const entry = await authorize(request, { connection, requestId }, options).catch(() =>
      refused(internalError),
    );
    if (entry.kind === 'refused') {
      refuse(socket, entry.refusal, { connectionId: connection.id, requestId });
      return;
    }
    const { authorization, protocol } = entry;
    if (socket.destroyed) {
      disconnectUnopened(options, { connection, requestId, authorization });
      return;
    }
    if (protocol !== undefined) agreed.set(request, protocol);
    let isOpen = false;
    server.handleUpgrade(request, socket, head, (webSocket) => {
      isOpen = true;
      options.accept({ connection, authorization, webSocket, stream: socket });
    });
    if (!isOpen) disconnectUnopened(options, { connection, requestId, authorization });
  };
};

const describeConnection = (request: IncomingMessage): Connection => ({
  id: makeConnectionId(),
  connectedAt: Date.now(),
  identity: { sourceIp: sourceIpOf(request), userAgent: request.headers['user-agent'] ?? null },
  domainName: request.headers.host ?? '127.0.0.1',
});

type Context = { readonly connection: Connection; readonly requestId: string };

const authorize = async (
  request: IncomingMessage,
  context: Context,
  options: UpgradeOptions,
): Promise<Entry> => {
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
    const result = readAuthorization(answer, event.methodArn);
    if (result.kind === 'refused') return refused(result);
    authorization = result.authorization;
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

const headerOf = (answer: ConnectAnswer | null, header: string): string | undefined => {
  const value = Object.entries(answer?.headers ?? {}).find(([name]) => name.toLowerCase() === header)?.[1];
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

/** The client left while `$connect` ran, or its request is no handshake: the function admitted it, so it gets the `$disconnect`. */
const disconnectUnopened = (
  { functions, routes }: UpgradeOptions,
  context: Context & { readonly authorization: Authorization | undefined },
): void => {
  const event = disconnectEvent({ code: 1006, reason: 'Connection closed before the handshake' }, context);
  functions.invoke(routes.functionName, JSON.stringify(event)).catch(() => undefined);
};

type AuthorizerResult =
  | { readonly kind: 'allowed'; readonly authorization: Authorization }
  | { readonly kind: 'refused'; readonly status: 401 | 403 | 500; readonly message: string };

type Statement = { readonly Effect?: unknown; readonly Action?: unknown; readonly Resource?: unknown };
type Answer = {
  readonly principalId?: unknown;
  readonly policyDocument?: { readonly Statement?: readonly Statement[] | Statement };
  readonly context?: Readonly<Record<string, unknown>> | null;
};

const failure: AuthorizerResult = { kind: 'refused', status: 500, message: 'Internal server error' };
const unauthorized: AuthorizerResult = { kind: 'refused', status: 401, message: 'Unauthorized' };
const deniedImplicitly: AuthorizerResult = {
  kind: 'refused',
  status: 403,
  message: 'User is not authorized to access this resource',
};
const deniedExplicitly: AuthorizerResult = {
  kind: 'refused',
  status: 403,
  message: 'User is not authorized to access this resource with an explicit deny',
};

const readAuthorization = ({ outcome, payload }: Buffered, methodArn: string): AuthorizerResult => {
  if (outcome.kind === 'failed')
    return outcome.error.errorMessage === 'Unauthorized' ? unauthorized : failure;
  const answer = JSON.parse(payload) as Answer | null;
  const statements = [answer?.policyDocument?.Statement ?? []].flat().filter((one) => covers(one, methodArn));
  if (answer === null || typeof answer.principalId !== 'string') return failure;
  if (statements.some(({ Effect }) => Effect === 'Deny')) return deniedExplicitly;
  if (!statements.some(({ Effect }) => Effect === 'Allow')) return deniedImplicitly;
  const context = Object.entries(answer.context ?? {});
  if (context.some(([, value]) => typeof value === 'object')) return failure;
  return {
    kind: 'allowed',
    authorization: {
      principalId: answer.principalId,
      ...Object.fromEntries(context.map(([name, value]) => [name, String(value)])),
    },
  };
};

const covers = ({ Action, Resource }: Statement, methodArn: string): boolean =>
  matches(Action, 'execute-api:Invoke') && matches(Resource, methodArn);

const matches = (patterns: unknown, subject: string): boolean =>
  [patterns].flat().some((pattern) => typeof pattern === 'string' && wildcard(pattern).test(subject));

const wildcard = (pattern: string): RegExp =>
  new RegExp(`^${pattern.split('*').map(escapeForRegExp).join('.*')}$`);

const escapeForRegExp = (text: string): string => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
