/**
 * Reading and writing HTTP messages: JSON answers, bodies within a bound, paced pieces of a response, the correlation id.
 *
 * A body over its bound is refused before it is held. A client that reads nothing for a minute is disconnected, so that it
 * cannot hold a file or the queue.
 */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Refusal, toErrorResponse } from './refusal.ts';

export const sendJson = (response: ServerResponse, body: object, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

/** The first part of a path; the rest belongs to the user. */
export const routeOf = ({ url = '' }: IncomingMessage): string => url.split(/[/?]/)[1] ?? '';

const headTooLong = 431;

/** Answers what is no request of HTTP, or has too long a head, if nothing was answered yet, and ends its connection. */
export const refuseUnreadable = (error: NodeJS.ErrnoException, socket: Duplex): void => {
  if (!(socket instanceof Socket) || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? headTooLong : 400;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: text/plain; charset=utf-8',
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\nthe request cannot be read\n`, () => socket.destroy());
};

/** Refuses what was to become another protocol, and ends its connection. */
export const refuseUpgrade = (socket: Duplex, cause: unknown): void => {
  const { status, body } = toErrorResponse(cause);
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
};

export const readBody = async (request: IncomingMessage, bytesMax: number): Promise<Buffer> => {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw tooLarge(bytesMax);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw tooLarge(bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

const tooLarge = (bytesMax: number): Refusal =>
  new Refusal('payload_too_large', `the body has more than ${bytesMax} bytes`);

export const stallMsMax = 60_000;

export const writePaced = (response: ServerResponse, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    if (response.destroyed) return reject(disconnected());
    if (response.write(bytes)) return resolve();
    settleOn(response, 'drain', { resolve, reject });
  });

/** Ends the response; resolves when the system has the last byte. */
export const endPaced = (response: ServerResponse): Promise<void> =>
  new Promise((resolve, reject) => {
    if (response.destroyed) return reject(disconnected());
    settleOn(response, 'finish', { resolve, reject });
    response.end();
  });

type Settlement = { readonly resolve: () => void; readonly reject: (cause: Error) => void };

const settleOn = (response: ServerResponse, event: string, { resolve, reject }: Settlement): void => {
  const stall = setTimeout(() => response.destroy(), stallMsMax);
  const settle = (isTaken: boolean): void => {
    clearTimeout(stall);
    response.off(event, onEvent).off('close', onClose);
    if (isTaken) resolve();
    else reject(disconnected());
  };
  const onEvent = (): void => settle(true);
  const onClose = (): void => settle(false);
  response.on(event, onEvent).on('close', onClose);
};

const disconnected = (): Refusal => new Refusal('invalid_request', 'the client has disconnected');

export const correlationHeader = 'x-correlation-id';

const charactersMax = 128;

export const correlationOf = ({ headers }: IncomingMessage): string | undefined => {
  const value = headers[correlationHeader];
  return typeof value === 'string' ? value.slice(0, charactersMax) : undefined;
};
