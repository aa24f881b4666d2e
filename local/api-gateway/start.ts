/**
 * API Gateway and CloudFront on one machine: one public origin, and the @connections endpoint beside it.
 *
 * `start` opens the endpoint whose URL the functions need; `open` opens the origin last, once every route has a
 * function. The gateway holds sockets and no other state.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Credentials, type Keys, makeKeys } from '../endpoint/account.ts';
import { type Listening, listen } from '../endpoint/listen.ts';
import type { FunctionHost } from '../lambda/function-host.ts';
import {
  openConnectionTable,
  stage,
  startManagement,
  type WebSocketLimits,
  webSocketLimits,
} from './connection.ts';
import { serveConnection } from './live-connection.ts';
import { matchRoute, type RestRoute } from './proxy-event.ts';
import { urlOf } from './request-maps.ts';
import { answerFromFunction, type RestLimits, restLimits } from './rest-integration.ts';
import { answerFile } from './static-files.ts';
import { openUpgrade, type WebSocketRoutes } from './websocket-upgrade.ts';

export type ApiGatewayOptions = {
  readonly functions: FunctionHost;
  readonly restRoutes: readonly RestRoute[];
  readonly webSocket: WebSocketRoutes;
  /** The folder of the web app. */
  readonly webRoot: string;
  /** The keys by which functions sign messages to connections. */
  readonly keys?: Keys;
  readonly limits?: { readonly rest?: Partial<RestLimits>; readonly webSocket?: Partial<WebSocketLimits> };
};

export type ApiGateway = {
  /** The endpoint for `@aws-sdk/client-apigatewaymanagementapi`. */
  readonly url: string;
  readonly credentials: Credentials;
  /** Opens the public origin and returns its URL. */
  readonly open: (port: number) => Promise<string>;
  readonly stop: () => Promise<void>;
};

const closeGoingAway = 1001;

export const start = async (options: ApiGatewayOptions): Promise<ApiGateway> => {
  const rest = { ...restLimits, ...options.limits?.rest };
  const webSocket = { ...webSocketLimits, ...options.limits?.webSocket };
  const { functions, keys = makeKeys() } = options;
  const table = openConnectionTable();
  const management = await startManagement({ table, limits: webSocket }, keys);
  const live = { functions, functionName: options.webSocket.functionName, limits: webSocket, table };
  const upgrade = openUpgrade({
    functions,
    routes: options.webSocket,
    limits: webSocket,
    accept: (accepted) => serveConnection(accepted, live),
  });
  let origin: Listening | undefined;

  return {
    url: `${management.url}/${stage}`,
    credentials: keys.issue('local'),
    open: async (port) => {
      origin = await listen((request, response) => answer(request, response, { ...options, rest }), port);
      origin.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
        if (urlOf(request).pathname === `/${stage}`) void upgrade({ request, socket, head });
        else socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      });
      return origin.url;
    },
    stop: async () => {
      for (const { socket } of table.all()) socket.close(closeGoingAway, 'Going away');
      await origin?.stop();
      await management.stop();
    },
  };
};

type Origin = ApiGatewayOptions & { readonly rest: RestLimits };

const answer = async (request: IncomingMessage, response: ServerResponse, origin: Origin): Promise<void> => {
  const pathname = urlOf(request).pathname;
  const route = matchRoute(origin.restRoutes, pathname);
  if (route !== undefined) {
    await answerFromFunction(request, response, { functions: origin.functions, route, limits: origin.rest });
  } else if (pathname === '/health') {
    sendJson(response, 200, { status: 'ok' });
  } else if (pathname === `/${stage}` || pathname.startsWith(`/${stage}/`)) {
    sendJson(response, 403, { message: 'Forbidden' });
  } else {
    await answerFile(origin.webRoot, { method: request.method ?? 'GET', pathname }, response);
  }
};

const sendJson = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};
