/**
 * `HostStandIn` over Node's own HTTP and TLS: what a program sends is parsed, and a request of its own goes to the host, so that
 * no bytes of a program stand beside a secret.
 *
 * Each request has a connection of its own, to an address that was judged; one connection of a program is answered one request after
 * the other. A request that names another host than its connection is refused. HTTP/1.1 alone is spoken, and of upgrades WebSocket.
 * Invariants IJ2 to IJ4: docs/spec/relay.md.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { finished } from 'node:stream/promises';
import { TLSSocket } from 'node:tls';
import type { EgressTarget, HostStandIn, InjectedExchange } from '#shared/ports/egress.ts';
import { streamOf } from './byte-stream.ts';
import { askHost, failureOf, type HostRequest, passUpgrade } from './host-request.ts';
import { type HostCredentials, openHostCertificates } from './sandbox-authority.ts';

type Parts = {
  /** The deployment's sandbox secret. */
  readonly secret: () => Promise<string>;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

const tlsHandshake = 22;
const headBytesMax = 64 * 1024;
const idleMsMax = 300_000;
/** Requests of one connection that a program sends without waiting for their answers. */
const aheadMax = 64;
const sandboxesKept = 8;

export const makeHostStandIn = (parts: Parts): HostStandIn => {
  const credentials = rememberCredentials(parts);
  return {
    answer: async (exchange) => {
      const bytes = streamOf(exchange.program);
      const isTls = (await firstByteOf(bytes)) === tlsHandshake;
      const stream = isTls
        ? secured(bytes, await credentials(exchange.sandbox, bareHost(exchange.target)))
        : bytes;
      const server = serverFor(exchange, isTls);
      server.emit('connection', stream);
      try {
        await finished(stream);
      } catch {
        // The program went away, or spoke no TLS and no HTTP.
      } finally {
        bytes.destroy();
        server.closeAllConnections();
      }
    },
  };
};

/** Undefined when it ends before. */
const firstByteOf = async (bytes: Duplex): Promise<number | undefined> => {
  if (bytes.readableLength === 0) await Promise.race([once(bytes, 'readable'), once(bytes, 'close')]);
  const chunk: Buffer | null = bytes.read();
  if (chunk === null) return undefined;
  bytes.unshift(chunk);
  return chunk[0];
};

const secured = (bytes: Duplex, { key, cert }: HostCredentials): Duplex => {
  const stream = new TLSSocket(bytes, { isServer: true, key, cert, ALPNProtocols: ['http/1.1'] });
  stream.on('error', () => stream.destroy());
  return stream;
};

/** Of the sandboxes whose relay is held here. */
const rememberCredentials = ({ secret, now }: Parts) => {
  const known = new Map<string, (host: string) => HostCredentials>();
  return async (sandbox: InjectedExchange['sandbox'], host: string): Promise<HostCredentials> => {
    const key = `${sandbox.workspaceId}:${sandbox.generation}`;
    let certificates = known.get(key);
    if (certificates === undefined) {
      certificates = openHostCertificates(await secret(), sandbox, now);
      if (known.size >= sandboxesKept) known.clear();
      known.set(key, certificates);
    }
    return certificates(host);
  };
};

const bareHost = ({ host }: EgressTarget): string => host.toLowerCase().replace(/^\[|\]$|\.$/g, '');

const serverFor = (exchange: InjectedExchange, isTls: boolean): Server => {
  const host = { exchange, isTls, host: bareHost(exchange.target) };
  const answer = inTurn();
  const server = createServer(
    { maxHeaderSize: headBytesMax, shouldUpgradeCallback: isWebSocket },
    (request, response) => {
      const isAnswered = answer(async () => {
        if (request.socket.destroyed) return;
        await serve(host, request, response).catch((error: unknown) =>
          refuse(response, failureOf(error, host.host)),
        );
      });
      if (!isAnswered) request.socket.destroy();
    },
  );
  for (const event of ['upgrade', 'connect'])
    server.on(event, (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on('error', () => socket.destroy());
      passUpgrade(host, { request, socket, head, problem: problemOf(host, request) }).catch(() =>
        socket.destroy(),
      );
    });
  server.requestTimeout = 0;
  server.keepAliveTimeout = idleMsMax;
  return server;
};

/** One work after the other, each to its end; false when too many wait. */
const inTurn = (): ((work: () => Promise<void>) => boolean) => {
  let last = Promise.resolve();
  let waiting = 0;
  return (work) => {
    if (waiting >= aheadMax) return false;
    waiting += 1;
    last = last.then(work).finally(() => {
      waiting -= 1;
    });
    return true;
  };
};

/** Another protocol is an offer, which a server may leave aside (RFC 9110, 7.8): here it always does. */
const isWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';

const serve = async (
  host: HostRequest,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const problem = problemOf(host, request);
  if (problem === undefined) await askHost(host, request, response);
  else refuse(response, problem);
};

type Problem = { readonly status: number; readonly message: string };

const problemOf = (host: HostRequest, request: IncomingMessage): Problem | undefined => {
  if (request.method === 'CONNECT' || (request.url?.startsWith('/') !== true && request.url !== '*'))
    return { status: 400, message: 'the request names no path' };
  // The answer is the request, with the secret (RFC 9110, 9.3.8).
  if (request.method === 'TRACE')
    return { status: 403, message: 'TRACE is refused: it would show the headers that the host receives' };
  return namesHost(host, request.headers.host)
    ? undefined
    : { status: 421, message: 'the request names another host than its connection' };
};

/** HTTP/1.0 may name none. */
const namesHost = ({ exchange, isTls, host }: HostRequest, named: string | undefined): boolean => {
  if (named === undefined) return true;
  const [, name = '', digits] = /^(\[[^\]]*\]|[^:]*)(?::([0-9]{1,5}))?$/.exec(named) ?? [];
  const port = digits === undefined ? (isTls ? 443 : 80) : Number(digits);
  return bareHost({ host: name, port }) === host && port === exchange.target.port;
};

const refuse = (response: ServerResponse, { status, message }: Problem): void => {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
  response.end(`${message}\n`);
};
