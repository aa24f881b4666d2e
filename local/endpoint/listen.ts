/**
 * A loopback HTTP server that stops at once: the base of every emulated endpoint.
 *
 * `listenSigned` serves the AWS endpoints: it admits requests that a caller of this start has signed, and refuses any
 * other from its head, before the body is read. `listen` serves the public origin, whose functions decide. Both bind
 * 127.0.0.1 only. An exception that an endpoint does not translate is a bug of it: the answer is 500 and the connection
 * is closed.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Credentials, type Keys, makeKeys } from './account.ts';
import { AwsError, claimBody, type WriteError, writeJsonError } from './http-messages.ts';
import { isSameSignature, parseAuthorization, signatureOf } from './signature.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export type Listening = {
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  readonly stop: () => Promise<void>;
};

type AnswerSigned = (request: IncomingMessage, response: ServerResponse, signed: Signed) => Promise<void>;

type SignedOptions = {
  readonly keys?: Keys | undefined;
  /** The form of refusals; JSON by default. */
  readonly writeError?: WriteError;
};

/** A running AWS endpoint, with the credentials of a client that is no function. */
export type Endpoint = {
  readonly url: string;
  readonly credentials: Credentials;
  readonly stop: () => Promise<void>;
};

/** An `AwsError` that `answer` throws becomes the answer. */
export const listenSigned = async (
  answer: AnswerSigned,
  { keys = makeKeys(), writeError = writeJsonError }: SignedOptions,
): Promise<Endpoint> => {
  let host = '';
  const { url, port, stop } = await open(async (request, response) => {
    try {
      const signed = admitOrClose(request, response, () => admit(request, { keys, host }));
      await answer(request, response, signed);
    } catch (cause) {
      if (!(cause instanceof AwsError)) throw cause;
      writeError(request, response, cause);
    }
  }, 0);
  host = `127.0.0.1:${port}`;
  return { url, credentials: keys.issue('local'), stop };
};

/** Sends `100 Continue` once the head is admitted; closes the connection of a refused request without reading its body. */
const admitOrClose = (request: IncomingMessage, response: ServerResponse, check: () => Signed): Signed => {
  try {
    const signed = check();
    if (request.headers.expect !== undefined) response.writeContinue();
    return signed;
  } catch (cause) {
    response.shouldKeepAlive = false;
    throw cause;
  }
};

export const listen = (answer: Answer, port = 0): Promise<Listening> =>
  open((request, response) => {
    if (request.headers.expect !== undefined) response.writeContinue();
    return answer(request, response);
  }, port);

const open = async (answer: Answer, port: number): Promise<Listening> => {
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    answer(request, response).catch((cause: unknown) => refuse(response, cause));
  };
  // Without this listener the server would send `100 Continue` before the head was checked.
  const server = createServer(handle).on('checkContinue', handle);
  // The server never closes an idle connection, since a client that is just reusing it would see a reset.
  server.keepAliveTimeout = 0;
  const sockets = trackSockets(server);
  await bind(server, port);
  const bound = (server.address() as AddressInfo).port;
  return { url: `http://127.0.0.1:${bound}`, port: bound, server, stop: () => close(server, sockets) };
};

/** Tracks sockets itself: the server forgets upgraded ones, but `close` waits for their end. */
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

type Guard = {
  readonly keys: Keys;
  /** The only accepted `Host`. */
  readonly host: string;
};

/** The caller that signed a request, and the service it signed for. */
export type Signed = { readonly caller: string; readonly service: string };

/** As on AWS: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-troubleshooting.html */
const clockSkewMsMax = 5 * 60_000;
const hexHash = /^[0-9a-f]{64}$/;

const admit = (request: IncomingMessage, { keys, host }: Guard): Signed => {
  refuseBrowsers(request, host);
  const authorization = parseAuthorization(request.headers.authorization ?? '');
  if (authorization === undefined)
    throw forbidden('MissingAuthenticationTokenException', 'Missing Authentication Token');
  const { accessKeyId, scope, signedHeaders } = authorization;
  const key = keys.find(accessKeyId);
  if (key === undefined)
    throw forbidden('UnrecognizedClientException', 'The security token included in the request is invalid.');
  const dateTime = String(request.headers['x-amz-date'] ?? '');
  refuseOldDate(dateTime, scope.date);
  refuseUnsignedHeaders(request, signedHeaders);
  const payloadHash = String(request.headers['x-amz-content-sha256']);
  const parts = {
    method: request.method ?? '',
    target: request.url ?? '',
    headers: request.headers,
    ...{ signedHeaders, dateTime, payloadHash, scope },
  };
  if (!isSameSignature(authorization.signature, signatureOf(parts, key.secretAccessKey)))
    throw forbidden('SignatureDoesNotMatch', 'The request signature does not match the signature provided.');
  if (hexHash.test(payloadHash)) claimBody(request, payloadHash);
  return { caller: key.caller, service: scope.service };
};

const refuseBrowsers = ({ headers }: IncomingMessage, host: string): void => {
  const isBrowser =
    headers.origin !== undefined || Object.keys(headers).some((name) => name.startsWith('sec-fetch-'));
  if (isBrowser) throw forbidden('AccessDeniedException', 'Requests of browsers are refused.');
  if (headers.host !== host)
    throw forbidden('AccessDeniedException', 'The Host header does not match this endpoint.');
};

const refuseOldDate = (dateTime: string, scopeDate: string): void => {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(dateTime) ?? [];
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  const isNear = Math.abs(at - Date.now()) <= clockSkewMsMax;
  if (!isNear || !dateTime.startsWith(scopeDate))
    throw forbidden('RequestTimeTooSkewed', 'The signature has expired or its date is in the future.');
};

/** Address, date, body hash and operation must be signed, since they decide about the request. */
const refuseUnsignedHeaders = ({ headers }: IncomingMessage, signed: readonly string[]): void => {
  const required = Object.keys(headers).filter((name) => name === 'host' || name.startsWith('x-amz-'));
  if (headers['x-amz-content-sha256'] === undefined || !required.every((name) => signed.includes(name)))
    throw forbidden('SignatureDoesNotMatch', 'The signature does not cover the required headers.');
};

const forbidden = (name: string, message: string): AwsError => new AwsError(403, name, message);
