/**
 * The HTTP face of the sandbox: who may enter, and which endpoint answers.
 *
 * Every route wants the bearer, `/health` too: what listens here belongs to one caller, the link.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { createBearerCheck } from './bearer.ts';
import type { CallRegistry } from './call-registry.ts';
import { listFiles, sendFile } from './files-endpoint.ts';
import type { Log } from './log.ts';
import { Refusal, toErrorResponse } from './refusal.ts';
import type { UserSide } from './user-side.ts';

export type HttpParts = {
  readonly bearerSha256: string;
  readonly mcp: (request: Request) => Promise<Response>;
  readonly userSide: UserSide;
  readonly registry: CallRegistry;
  readonly log: Log;
};

export const createHttpServer = (parts: HttpParts): Server => {
  const isAllowed = createBearerCheck(parts.bearerSha256);
  const server = createServer((request, response) => {
    const serve = async (): Promise<void> => {
      if (!isAllowed(request.headers.authorization))
        throw new Refusal('unauthenticated', 'a bearer is needed');
      await route(parts, request, response);
    };
    serve().catch((cause: unknown) => refuse(parts.log, { request, response, cause }));
  });
  // The link keeps its connections; one that we close while it is being reused would cost it a failure.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  return server;
};

const route = async (parts: HttpParts, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const url = new URL(request.url ?? '/', 'http://sandbox');
  const asked = `${request.method} ${url.pathname}`;
  if (asked === 'GET /health') return sendJson(response, { status: 'ok' });
  if (url.pathname === '/mcp') return serveMcp(parts, request, response);
  if (asked === 'GET /files') return listFiles(parts.userSide, url.searchParams.get('path') ?? '.', response);
  const file = /^GET \/files\/(.+)$/s.exec(asked)?.[1];
  if (file !== undefined) return sendFile(parts.userSide, decode(file), response);
  const callId = /^POST \/calls\/([^/]+)\/cancel$/.exec(asked)?.[1];
  if (callId !== undefined) return sendJson(response, { call: parts.registry.cancel(decode(callId)) });
  throw new Refusal('not_found', 'no such route');
};

const decode = (text: string): string => {
  const decoded = decodeOrNothing(text);
  if (decoded === undefined) throw new Refusal('invalid_request', 'the path is not URL-encoded');
  return decoded;
};

const decodeOrNothing = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

const sendJson = (response: ServerResponse, body: object): void => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

/** The caller's broken connection aborts the request, which kills a call without an id. */
const serveMcp = async (
  { mcp }: HttpParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const abort = new AbortController();
  response.once('close', () => abort.abort());
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  const hasBody = request.method === 'POST';
  const answer = await mcp(
    new Request('http://sandbox/mcp', {
      method: request.method ?? 'GET',
      headers,
      signal: abort.signal,
      ...(hasBody ? { body: Readable.toWeb(request) as globalThis.ReadableStream, duplex: 'half' } : {}),
    }),
  );
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.flushHeaders();
  if (answer.body === null) response.end();
  else await pipeline(Readable.fromWeb(answer.body as ReadableStream<Uint8Array>), response);
};

type Failure = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly cause: unknown;
};

const refuse = (log: Log, { request, response, cause }: Failure): void => {
  if (!(cause instanceof Refusal) && !response.destroyed) {
    log.warn('request failed', { cause: cause instanceof Error ? cause.message : String(cause) });
  }
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, body } = toErrorResponse(cause);
  // A body that nobody read is not waited for.
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(body);
  request.resume();
};
