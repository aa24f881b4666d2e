/**
 * The ports endpoint: a request streamed to a web server of user code, and its answer streamed back; and the upgrade of a connection
 * to a WebSocket, which is passed on both ways, unread.
 *
 * Only ports of user code on the loopback. Credentials of the platform (`authorization`, `cookie`) and headers of one
 * connection are not passed on. The answer is user code's and not trusted.
 */
import { once } from 'node:events';
import {
  type ClientRequest,
  type IncomingMessage,
  request as openRequest,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { hopByHopHeaders } from '#shared/contracts/hop-by-hop.ts';
import { handshakeHeaders } from '#shared/contracts/preview-upgrade.ts';
import { refusalHeader } from '#shared/contracts/sandbox-call.ts';
import { isPreviewPort, previewPortRule } from '#shared/domain/sandbox.ts';
import { Refusal } from './refusal.ts';

const connectMsMax = 3000;
const idleMsMax = 120_000;

const secret = ['authorization', 'cookie', 'host'];

export const proxyPort = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const { port, target } = parseTarget(request.url ?? '');
  const socket = await openPort(port);
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  const outgoing = openRequest({
    createConnection: () => socket,
    method: request.method ?? 'GET',
    path: target,
    headers: {
      ...userHeaders(request, port),
      connection: 'close',
      ...(isChunked ? { 'transfer-encoding': 'chunked' } : {}),
    },
  });
  // It may fail at any moment, also when it is no longer awaited.
  outgoing.on('error', () => undefined);
  outgoing.setTimeout(idleMsMax, () => outgoing.destroy());
  response.once('close', () => outgoing.destroy());
  // A server may answer and close without reading the body: its answer counts.
  pipeline(request, outgoing).catch(() => undefined);
  const answer = await waitForAnswer(outgoing, port);
  response.writeHead(answer.statusCode ?? 502, withoutHeaders(answer, [refusalHeader]));
  await pipeline(answer, response);
};

/** From the text as it came: a URL parser would take dots out of a path of user code. */
const parseTarget = (url: string): { readonly port: number; readonly target: string } => {
  const [, digits = '', rest = ''] = /^\/ports\/([1-9]\d{3,4})([/?].*)?$/s.exec(url) ?? [];
  const port = Number(digits);
  if (!isPreviewPort(port)) throw new Refusal('invalid_request', `a port is ${previewPortRule}`);
  return { port, target: rest.startsWith('/') ? rest : `/${rest}` };
};

/** Headers of a request as user code gets them. */
const userHeaders = (request: IncomingMessage, port: number) => ({
  ...withoutHeaders(request, secret),
  host: `127.0.0.1:${port}`,
});

/** Connected. User code may reset it at any moment, also while it is not read: only its `close` reports a later failure. */
const openPort = async (port: number): Promise<Socket> => {
  const socket = connect({ host: '127.0.0.1', port });
  socket.on('error', () => undefined);
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(connectMsMax) });
  } catch (cause) {
    socket.destroy();
    throw new Refusal('sandbox_unavailable', `nothing listens on port ${port}`, { cause });
  }
  return socket;
};

const waitForAnswer = async (outgoing: ClientRequest, port: number): Promise<IncomingMessage> => {
  const failure = (cause?: unknown): Refusal =>
    new Refusal('sandbox_unavailable', `port ${port} did not answer`, { cause });
  const abort = new AbortController();
  outgoing.once('close', () => abort.abort());
  try {
    const [answer] = (await once(outgoing, 'response', { signal: abort.signal })) as [IncomingMessage];
    // Node refuses to send on a status that HTTP does not have.
    if ((answer.statusCode ?? 0) < 200 || (answer.statusCode ?? 0) > 999) throw failure();
    return answer;
  } catch (cause) {
    outgoing.destroy();
    throw cause instanceof Refusal ? cause : failure(cause);
  }
};

const withoutHeaders = (
  { headers }: IncomingMessage,
  names: readonly string[],
): Record<string, string | string[]> => {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const left = new Set([...hopByHopHeaders, ...named, ...names]);
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || left.has(name) ? [] : [[name, value] as const],
    ),
  );
};

export type Upgrade = {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** Bytes that came with the request. */
  readonly head: Buffer;
};

/** Of the answer only what a handshake needs is passed on; a server that refuses is answered for with its status alone. */
export const upgradePort = async ({ request, socket, head }: Upgrade): Promise<void> => {
  const { port, target } = parseTarget(request.url ?? '');
  const inner = await openPort(port);
  const outgoing = openRequest({
    createConnection: () => inner,
    method: 'GET',
    path: target,
    headers: { ...userHeaders(request, port), ...handshakeHeaders(request.headers) },
  });
  socket.once('close', () => inner.destroy());
  inner.once('close', () => socket.destroy());
  outgoing.once('upgrade', (answer, _inner, rest) => {
    const lines = Object.entries(handshakeHeaders(answer.headers)).map(
      ([name, value]) => `${name}: ${value}`,
    );
    socket.write(['HTTP/1.1 101 Switching Protocols', ...lines, '', ''].join('\r\n'));
    socket.write(rest);
    inner.write(head);
    inner.pipe(socket).pipe(inner);
  });
  outgoing.once('response', (answer) => {
    const status = answer.statusCode ?? 502;
    answer.resume();
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`,
    );
  });
  outgoing.on('error', () => socket.destroy());
  outgoing.end();
};
