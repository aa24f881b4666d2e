/**
 * The proxy of the sandbox: HTTP/1.1 on its loopback for programs that know nothing of the relay.
 *
 * `GET http://host/…` is sent on as a request of its own, so that its `Host` is the host that was judged; CONNECT gives a tunnel
 * of bytes. It decides nothing: which hosts are allowed is judged on the platform's side, where names are resolved. A refusal is
 * answered with a status and a sentence.
 */
import {
  createServer,
  type IncomingMessage,
  request as openRequest,
  type RequestOptions,
  type Server,
  type ServerResponse,
} from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { hopByHopHeaders } from '#shared/contracts/hop-by-hop.ts';
import { refuseUnreadable } from '../http-messages.ts';
import type { Log } from '../logs.ts';
import { RelayRefusal, type SandboxRelay } from './relay.ts';
import { leftBy, openRelaySocket } from './relay-socket.ts';
import { retryWithNextHolder } from './retry-with-next-holder.ts';

type ProxyParts = { readonly relay: SandboxRelay; readonly log: Log };

const portDefault = 80;
const portMax = 65_535;
const headBytesMax = 64 * 1024;
/** More connections than streams: those that wait for their answer. */
const connectionsMax = 256;
const connectionIdleMsMax = 300_000;

export const createProxy = ({ relay, log }: ProxyParts): Server => {
  const server = createServer({ maxHeaderSize: headBytesMax }, (request, response) => {
    const mayRepeat = (): boolean => isRepeatable(request) && !response.headersSent && !response.destroyed;
    retryWithNextHolder(() => forward(relay, request, response), mayRepeat).catch((cause: unknown) => {
      if (response.headersSent) breakOff(response.socket);
      else refuse(response, cause);
    });
  });
  server.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    tunnel(relay, { request, socket, head }).catch((cause: unknown) => socket.end(refusalText(cause)));
  });
  server.on('clientError', refuseUnreadable);
  server.on('error', (error) => log.warn('the proxy failed', { cause: error.message }));
  server.maxConnections = connectionsMax;
  server.requestTimeout = 0;
  server.keepAliveTimeout = connectionIdleMsMax;
  return server;
};

/** It has no effect at its host, and no body. */
const isRepeatable = ({ method, headers }: IncomingMessage): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  headers['content-length'] === undefined &&
  headers['transfer-encoding'] === undefined;

/** By a reset: an end would look like the end of the answer. */
const breakOff = (socket: Duplex | null): void => {
  if (socket instanceof Socket && !socket.destroyed) socket.resetAndDestroy();
  else socket?.destroy();
};

const forward = async (
  relay: SandboxRelay,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const { host, port, path } = targetOf(request.url ?? '');
  const inner = await openRelaySocket(relay, { type: 'egress', via: 'http', host, port }, leftBy(response));
  response.once('close', () => inner.destroy());
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  const options: RequestOptions = {
    createConnection: () => inner,
    method: request.method ?? 'GET',
    path,
    setHost: false,
    headers: {
      ...passedOn(request),
      host: port === portDefault ? bracketed(host) : `${bracketed(host)}:${port}`,
      connection: 'close',
      ...(isChunked ? { 'transfer-encoding': 'chunked' } : {}),
    },
  };
  const outgoing = openRequest(options);
  const answered = Promise.withResolvers<IncomingMessage>();
  outgoing.once('response', answered.resolve);
  outgoing.on('error', (error) => answered.reject(inner.errored ?? error));
  outgoing.once('close', () => answered.reject(inner.errored ?? brokeOff));
  // A server may answer without reading the body: its answer counts.
  pipeline(request, outgoing).catch(() => undefined);
  const answer = await answered.promise;
  response.writeHead(answer.statusCode ?? 502, passedOn(answer));
  await pipeline(answer, response);
};

const brokeOff = new RelayRefusal({
  status: 502,
  message: 'the host closed the connection without an answer',
});

type Upgrade = { readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer };

const tunnel = async (relay: SandboxRelay, { request, socket, head }: Upgrade): Promise<void> => {
  const { host, port } = authorityOf(request.url ?? '', undefined);
  const inner = await openRelaySocket(relay, { type: 'egress', via: 'tunnel', host, port }, leftBy(socket));
  socket.once('close', () => inner.destroy());
  inner.once('close', () => {
    // Bytes that the host sent before it closed still reach the program.
    if (inner.readableEnded) socket.end();
    else breakOff(socket);
  });
  socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
  if (head.length > 0) inner.write(head);
  socket.pipe(inner);
  inner.pipe(socket);
};

type Authority = { readonly host: string; readonly port: number };

const malformed = (message: string): RelayRefusal => new RelayRefusal({ status: 400, message });

/** From the text as it came: a URL parser would rewrite a number into an address. */
const targetOf = (url: string): Authority & { readonly path: string } => {
  const [, scheme = '', authority = '', rest = ''] = /^([a-z]+):\/\/([^/?#]*)([^#]*)/is.exec(url) ?? [];
  if (scheme === '') throw malformed('this is a proxy: name the whole address, http://host/path');
  if (scheme.toLowerCase() !== 'http')
    throw malformed(`${scheme.slice(0, 20)}: through this proxy needs CONNECT`);
  return { ...authorityOf(authority, portDefault), path: rest.startsWith('/') ? rest : `/${rest}` };
};

const authorityOf = (text: string, defaultPort: number | undefined): Authority => {
  const [, host = '', digits] = /^(\[[^\]@]*\]|[^:@[\]\s]+)(?::([0-9]{1,5}))?$/.exec(text) ?? [];
  const port = digits === undefined ? defaultPort : Number(digits);
  if (host === '' || host.length > 255) throw malformed('the host cannot be read');
  if (port === undefined || port < 1 || port > portMax) throw malformed('the port cannot be read');
  return { host, port };
};

const bracketed = (host: string): string =>
  host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;

const passedOn = ({ headers }: IncomingMessage): Record<string, string | string[]> => {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const left = new Set([...hopByHopHeaders, ...named, 'host']);
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || left.has(name) ? [] : [[name, value] as const],
    ),
  );
};

const refusalOf = (cause: unknown): { readonly status: number; readonly message: string } =>
  cause instanceof RelayRefusal ? cause : { status: 502, message: 'the connection failed' };

const refuse = (response: ServerResponse, cause: unknown): void => {
  const { status, message } = refusalOf(cause);
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
  response.end(`${message}\n`);
};

const refusalText = (cause: unknown): string => {
  const { status, message } = refusalOf(cause);
  const lines = [
    // Of the answer to CONNECT most programs show this line alone.
    `HTTP/1.1 ${status} ${message.replaceAll(/[^ -~]/g, '')}`,
    'content-type: text/plain; charset=utf-8',
    `content-length: ${Buffer.byteLength(message) + 1}`,
    'connection: close',
  ];
  return `${lines.join('\r\n')}\r\n\r\n${message}\n`;
};
