/**
 * API Gateway and CloudFront on one machine: one public origin, and the @connections endpoint beside it.
 *
 * `start` opens the endpoint whose URL the functions need; `open` opens the origin last, once every route has a
 * function. The origin serves the REST API, the WebSocket API and the files of the web app; of those only types that a
 * browser loads, and never a path outside their folder. The gateway holds sockets and no other state.
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join, normalize } from 'node:path';
import type { Duplex } from 'node:stream';
import { contentSecurityPolicy, hashedFileCaching, pageCaching } from '#shared/config/web-headers.ts';
import { AppError, errorBody } from '#shared/errors.ts';
import type { Keys } from '../endpoint/account.ts';
import { type Endpoint, type Listening, listen } from '../endpoint/listen.ts';
import type { FunctionHost } from '../lambda/function-host.ts';
import {
  type ConnectionTable,
  stage,
  startManagement,
  type WebSocketLimits,
  webSocketLimits,
} from './connection.ts';
import { serveConnection } from './live-connection.ts';
import { upgradeToPort } from './port-upgrade.ts';
import { isPreview, matchRoute, type RestRoute, urlOf } from './proxy-event.ts';
import { answerFromFunction, type RestLimits, restLimits } from './rest-integration.ts';
import { openUpgrade, type WebSocketRoutes } from './websocket-upgrade.ts';

type ApiGatewayOptions = {
  readonly functions: FunctionHost;
  readonly restRoutes: readonly RestRoute[];
  readonly webSocket: WebSocketRoutes;
  /** The folder of the web app. */
  readonly webRoot: string;
  /** The keys by which functions sign messages to connections. */
  readonly keys?: Keys;
  readonly limits?: { readonly rest?: Partial<RestLimits>; readonly webSocket?: Partial<WebSocketLimits> };
  /** The interval at which the access of an open preview connection is checked. */
  readonly previewCheckMs?: number | undefined;
};

/** The endpoint for `@aws-sdk/client-apigatewaymanagementapi`, and the public origin. */
export type ApiGateway = Endpoint & {
  /** Opens the public origin and returns its URL. */
  readonly open: (port: number) => Promise<string>;
};

const closeGoingAway = 1001;
/** The time for which a revoked token is still of use to an open preview connection. */
const previewCheckMsDefault = 20_000;

export const start = async (options: ApiGatewayOptions): Promise<ApiGateway> => {
  const rest = { ...restLimits, ...options.limits?.rest };
  const webSocket = { ...webSocketLimits, ...options.limits?.webSocket };
  const { functions, keys, previewCheckMs: checkMs = previewCheckMsDefault } = options;
  const table: ConnectionTable = new Map();
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
    credentials: management.credentials,
    open: async (port) => {
      origin = await listen((request, response) => answer(request, response, { ...options, rest }), port);
      origin.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
        // Node has let go of it: the reset of any page or program would otherwise end the whole cloud.
        socket.on('error', () => socket.destroy());
        const { pathname } = urlOf(request);
        const route = isPreview(pathname) ? matchRoute(options.restRoutes, pathname) : undefined;
        if (pathname === `/${stage}`) void upgrade({ request, socket, head });
        else if (route !== undefined)
          void upgradeToPort({ request, socket, head, functions, route, checkMs });
        else socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      });
      return origin.url;
    },
    stop: async () => {
      for (const { socket } of table.values()) socket.close(closeGoingAway, 'Going away');
      await origin?.stop();
      await management.stop();
    },
  };
};

type Origin = ApiGatewayOptions & { readonly rest: RestLimits };

/** Also a path that a parser of URLs would make one of the API: its refusal has the body of the contract. */
const isNearApi = (pathname: string): boolean =>
  [pathname, new URL(`http://origin${pathname}`).pathname].some((path) =>
    /^\/(?:api|mcp)(?:\/|$)/.test(path),
  );

const answer = async (request: IncomingMessage, response: ServerResponse, origin: Origin): Promise<void> => {
  const pathname = urlOf(request).pathname;
  const route = matchRoute(origin.restRoutes, pathname);
  if (route !== undefined) {
    await answerFromFunction(request, response, { functions: origin.functions, route, limits: origin.rest });
  } else if (isNearApi(pathname)) {
    const requestId = randomUUID();
    for (const name of ['x-request-id', 'x-amzn-requestid']) response.setHeader(name, requestId);
    sendJson(response, 404, errorBody(new AppError('not_found', 'there is no such route'), requestId));
  } else if (pathname === '/health') {
    sendJson(response, 200, { status: 'ok' });
  } else if (pathname === `/${stage}` || pathname.startsWith(`/${stage}/`)) {
    sendJson(response, 403, { message: 'Forbidden' });
  } else {
    await answerFile(origin.webRoot, { method: request.method ?? 'GET', pathname }, response);
  }
};

const sendJson = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' });
  response.end(JSON.stringify(body));
};

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  // Of the client libraries.
  '.tgz': 'application/gzip',
  '.gz': 'application/gzip',
};

const securityHeaders = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** Holds only files whose names have a hash of their content. */
const hashedFolder = '/assets/';

type StaticRequest = { readonly method: string; readonly pathname: string };

const answerFile = async (root: string, request: StaticRequest, response: ServerResponse): Promise<void> => {
  const found = await findFile(root, request);
  if (found === undefined) {
    response
      .writeHead(404, { ...securityHeaders, 'content-type': 'text/plain; charset=utf-8' })
      .end('Not found\n');
    return;
  }
  const { bytes, type, caching } = found;
  response.writeHead(200, {
    ...securityHeaders,
    'content-type': type,
    'content-length': bytes.length,
    'cache-control': caching,
  });
  response.end(request.method === 'HEAD' ? undefined : bytes);
};

const findFile = async (
  root: string,
  { method, pathname }: StaticRequest,
): Promise<{ readonly bytes: Buffer; readonly type: string; readonly caching: string } | undefined> => {
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  const path = decode(pathname === '/' ? '/index.html' : pathname);
  const type = path === undefined ? undefined : contentTypes[extname(path)];
  if (path === undefined || type === undefined || path.includes('\0')) return undefined;
  // `normalize` of an absolute path cannot climb over the root, so `..` ends at the folder.
  const normalized = normalize(path);
  const bytes = await readFile(join(root, normalized)).catch(() => undefined);
  if (bytes === undefined) return undefined;
  return { bytes, type, caching: normalized.startsWith(hashedFolder) ? hashedFileCaching : pageCaching };
};

const decode = (pathname: string): string | undefined => {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return undefined;
  }
};
