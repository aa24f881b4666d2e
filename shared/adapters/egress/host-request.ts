/**
 * One request of a program, passed on to its host with the headers of the platform: over TLS whose certificate is verified (IJ3), or over
 * plain HTTP. A header that a program sets by itself does not take the place of the platform's.
 */
import { once } from 'node:events';
import {
  type ClientRequest,
  type IncomingMessage,
  request as openRequest,
  type ServerResponse,
} from 'node:http';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { connect as connectTls } from 'node:tls';
import { hopByHopHeaders } from '#shared/contracts/hop-by-hop.ts';
import { isAppError } from '#shared/errors.ts';
import type { InjectedExchange } from '#shared/ports/egress.ts';
import { streamOf } from './byte-stream.ts';

export type HostRequest = {
  readonly exchange: InjectedExchange;
  readonly isTls: boolean;
  /** Without brackets and a final dot, in lower case. */
  readonly host: string;
};

const handshakeMsMax = 10_000;

export const askHost = async (
  host: HostRequest,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const outgoing = await openTo(host, request, { connection: 'close' });
  response.once('close', () => outgoing.destroy());
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
  // A server may answer without reading the body: its answer counts.
  pipeline(request, outgoing).catch(() => undefined);
  const [answer] = await answered;
  response.writeHead(answer.statusCode ?? badGateway, passedOn(answer));
  await pipeline(answer, response);
};

type Upgrade = {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  /** The reason why it is refused. */
  readonly problem: { readonly status: number; readonly message: string } | undefined;
};

/** A WebSocket: only its request gets headers. */
export const passUpgrade = async (
  host: HostRequest,
  { request, socket, head, problem }: Upgrade,
): Promise<void> => {
  if (problem !== undefined) return refuseUpgrade(socket, problem);
  try {
    const outgoing = await openTo(host, request, {
      connection: 'upgrade',
      upgrade: request.headers.upgrade ?? '',
    });
    outgoing.end();
    const answered = Promise.withResolvers<{
      readonly answer: IncomingMessage;
      readonly upstream?: Duplex;
    }>();
    outgoing.once('upgrade', (answer, upstream, first) => {
      if (first.length > 0) upstream.unshift(first);
      answered.resolve({ answer, upstream });
    });
    outgoing.once('response', (answer) => answered.resolve({ answer }));
    outgoing.once('error', answered.reject);
    const { answer, upstream } = await answered.promise;
    socket.write(headOf(answer));
    if (upstream === undefined) return await pipeline(answer, socket);
    if (head.length > 0) upstream.write(head);
    await Promise.all([pipeline(socket, upstream), pipeline(upstream, socket)]);
  } catch (error) {
    refuseUpgrade(socket, failureOf(error, host.host));
  }
};

const refuseUpgrade = (socket: Duplex, { status, message }: { status: number; message: string }): void => {
  if (socket.writable) socket.end(`HTTP/1.1 ${status} \r\nconnection: close\r\n\r\n${message}\n`);
};

/** Of an upgrade as it came; any other answer is the last one of its connection. */
const headOf = ({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string => {
  const isUpgrade = statusCode === switchingProtocols;
  const lines = rawHeaders.flatMap((name, at) =>
    at % 2 === 0 && (isUpgrade || !hopByHopHeaders.includes(name.toLowerCase()))
      ? [`${name}: ${rawHeaders[at + 1]}`]
      : [],
  );
  const last = isUpgrade ? [] : ['connection: close'];
  return [`HTTP/1.1 ${statusCode} ${statusMessage}`, ...lines, ...last, '', ''].join('\r\n');
};

const openTo = async (
  host: HostRequest,
  request: IncomingMessage,
  connection: Readonly<Record<string, string>>,
): Promise<ClientRequest> => {
  const { exchange } = host;
  const injected = await exchange.headers();
  const socket = await connectTo(host);
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  try {
    return openRequest({
      createConnection: () => socket,
      method: request.method ?? 'GET',
      path: request.url ?? '/',
      setHost: false,
      headers: {
        host: request.headers.host ?? authorityOf(host),
        ...passedOn(request),
        ...connection,
        ...(isChunked ? { 'transfer-encoding': 'chunked' } : {}),
        ...lowerCased(injected),
      },
    }).on('error', () => socket.destroy());
  } catch (error) {
    socket.destroy();
    throw error;
  }
};

const authorityOf = ({ exchange, isTls, host }: HostRequest): string => {
  const { port } = exchange.target;
  const name = isIP(host) === 6 ? `[${host}]` : host;
  return port === (isTls ? 443 : 80) ? name : `${name}:${port}`;
};

const connectTo = async ({ exchange, isTls, host }: HostRequest): Promise<Duplex> => {
  const plain = streamOf(await exchange.connect());
  if (!isTls) return plain;
  const socket = connectTls({
    socket: plain,
    host,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
  });
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(handshakeMsMax) });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
};

const passedOn = ({ headers }: IncomingMessage): Record<string, string | string[]> => {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const left = new Set([...hopByHopHeaders, ...named]);
  // Without it the body would be what follows the request: another one.
  left.delete('content-length');
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || left.has(name) ? [] : [[name, value] as const],
    ),
  );
};

const lowerCased = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const switchingProtocols = 101;
const badGateway = 502;
const forbidden = 403;
const refusals = ['forbidden', 'resource_limit_exceeded'];

/** Words that a program may be told: never the text of an unknown error, which may repeat a header. */
export const failureOf = (
  error: unknown,
  host: string,
): { readonly status: number; readonly message: string } => {
  if (isAppError(error))
    return { status: refusals.includes(error.code) ? forbidden : badGateway, message: error.message };
  const code = codeOf(error);
  return {
    status: badGateway,
    message: certificateCodes.test(code)
      ? `the certificate of ${host} is not valid: ${code}`
      : `the connection to ${host} was interrupted`,
  };
};

const certificateCodes =
  /CERT|SIGNATURE|ISSUER|CHAIN|UNABLE_TO_VERIFY|INVALID_(?:CA|PURPOSE)|HOSTNAME_MISMATCH/;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
