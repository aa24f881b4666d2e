/**
 * The HTTP server of the sandbox: authentication, the answer that it is up, and the form of a failure.
 *
 * Every route requires the bearer, `/health` too: the server has one client, the link. All other routes are opened when the
 * first request needs them.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { refusalHeader } from '#shared/contracts/sandbox-call.ts';
import type { Bearer } from './bearer.ts';
import { correlationOf, refuseUpgrade, routeOf, sendJson } from './http-messages.ts';
import type { Log } from './logs.ts';
import { Refusal, toErrorResponse } from './refusal.ts';
import type { ServedRoutes } from './served-routes.ts';

type ServerParts = {
  readonly bearer: Bearer;
  readonly routes: () => Promise<ServedRoutes>;
  /** Behind the first answer of `/health`: the first call comes soon. */
  readonly prepare: () => void;
  readonly log: Log;
};

type HttpServer = {
  readonly listen: Server['listen'];
  /** Takes no new connection, and no new request on an old one. */
  readonly stopAccepting: () => void;
};

export const createHttpServer = ({ bearer, routes, prepare, log }: ServerParts): HttpServer => {
  let isStopping = false;
  const server = createServer((request, response) => {
    const serve = async (): Promise<void> => {
      if (!bearer.isAllowed(request.headers.authorization))
        throw new Refusal('unauthenticated', 'a bearer is needed');
      if (isStopping) throw new Refusal('sandbox_unavailable', 'the sandbox stops');
      if (isHealth(request)) {
        sendJson(response, { status: 'ok' });
        prepare();
      } else {
        const { serve: serveRoute } = await routes();
        // Its client may have gone while the routes were loaded.
        if (response.destroyed) return;
        await serveRoute(request, response);
      }
      log.info('request served', { correlation_id: correlationOf(request), route: routeOf(request) });
    };
    serve().catch((cause: unknown) => refuse(log, { request, response, cause }));
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const serve = async (): Promise<void> => {
      if (!bearer.isAllowed(request.headers.authorization))
        throw new Refusal('unauthenticated', 'a bearer is needed');
      if (isStopping) throw new Refusal('sandbox_unavailable', 'the sandbox stops');
      if (routeOf(request) !== 'ports') throw new Refusal('not_found', 'no such route');
      const { upgrade } = await routes();
      if (!socket.destroyed) await upgrade({ request, socket, head });
    };
    serve().catch((cause: unknown) => refuseUpgrade(socket, cause));
  });
  // The link keeps its connections: one that closes while it is being reused would cost it a failure.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  return {
    listen: server.listen.bind(server),
    stopAccepting: () => {
      isStopping = true;
      server.close();
    },
  };
};

const isHealth = ({ method, url }: IncomingMessage): boolean =>
  method === 'GET' && url?.split('?', 1)[0] === '/health';

type Failure = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly cause: unknown;
};

const refuse = (log: Log, { request, response, cause }: Failure): void => {
  if (!(cause instanceof Refusal) && !response.destroyed) {
    const message = cause instanceof Error ? cause.message : String(cause);
    log.warn('request failed', { correlation_id: correlationOf(request), cause: message });
  }
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, body } = toErrorResponse(cause);
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      [refusalHeader]: 'true',
      connection: 'close',
    })
    .write(body);
  endAfter(request, () => response.end());
};

/** A client that still sends would lose the answer with the connection; an endless body is not awaited. */
const endAfter = (request: IncomingMessage, end: () => void): void => {
  if (request.complete) {
    end();
    return;
  }
  const linger = setTimeout(end, lingerMsMax);
  const finish = (): void => {
    clearTimeout(linger);
    end();
  };
  request.once('end', finish).once('close', finish).resume();
};

const lingerMsMax = 2000;
