/**
 * A loopback HTTP server that stops at once: what every emulated endpoint stands on.
 *
 * It binds 127.0.0.1 and nothing else, because none of these endpoints checks a signature. A failure
 * that an endpoint did not translate is its bug: it is answered with 500 and the connection is closed.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export type Listening = {
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  readonly stop: () => Promise<void>;
};

export const listen = async (answer: Answer, port = 0): Promise<Listening> => {
  const server = createServer((request, response) => {
    answer(request, response).catch((cause: unknown) => refuse(response, cause));
  });
  // An idle kept-alive connection is never closed by us: a client that is just reusing it would see a reset.
  server.keepAliveTimeout = 0;
  const sockets = trackSockets(server);
  await bind(server, port);
  const bound = (server.address() as AddressInfo).port;
  return { url: `http://127.0.0.1:${bound}`, port: bound, server, stop: () => close(server, sockets) };
};

/** The server forgets a socket that was upgraded, and then waits for its end. */
const trackSockets = (server: Server): ReadonlySet<Socket> => {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
};

const bind = (server: Server, port: number): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(port, '127.0.0.1', () => {
    server.off('error', reject);
    resolve();
  });
  return promise;
};

const close = (server: Server, sockets: ReadonlySet<Socket>): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    for (const socket of sockets) socket.destroy();
  });

const refuse = (response: ServerResponse, cause: unknown): void => {
  if (response.destroyed) return;
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const message = cause instanceof Error ? cause.message : String(cause);
  response.writeHead(500, { 'content-type': 'application/json', 'x-amzn-errortype': 'InternalFailure' });
  response.end(JSON.stringify({ message }));
};
