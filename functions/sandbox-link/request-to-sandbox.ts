/**
 * One HTTP request into a sandbox, and its answer as JSON or as a refusal.
 *
 * Each request opens a connection of its own: a kept connection could lead to a stopped task, and the silence of
 * a dead address would last for minutes.
 */
import { type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import * as z from 'zod';
import { startInputTimeout } from '#shared/adapters/input-timeout.ts';
import { decode } from '#shared/contracts/decode.ts';
import { errorRules } from '#shared/errors.ts';

type SandboxRequest = {
  /** `http://<address>:<port>`, inside the range. */
  readonly target: URL;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | AsyncIterable<Uint8Array> | undefined;
  /** A connection without a byte for this long is closed. */
  readonly silenceMsMax?: number;
};

/** No connection was made: nothing was sent. */
export class NotConnected extends Error {
  override readonly name = 'NotConnected';
}

/** A sandbox is one security group away: without an answer by then it is not there. */
const connectMsMax = 3000;
/** TCP keep-alive: a silent connection is probed after this long. */
const aliveProbeMs = 5000;
/** Chunks of a streamed body that wait to be sent. */
const chunksAheadMax = 2;

/** Resolves with the headers of the response; its body fails when the sandbox fails. */
export const openRequest = ({
  target,
  method,
  path,
  headers,
  body,
  silenceMsMax,
}: SandboxRequest): Promise<IncomingMessage> => {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const outgoing = request({
    host: target.hostname,
    port: target.port || 80,
    method,
    path,
    agent: false,
    headers: { ...headers, ...(body instanceof Uint8Array ? { 'content-length': body.length } : {}) },
  });
  let isConnected = false;
  const stopWaiting = startInputTimeout(connectMsMax, () =>
    outgoing.destroy(new Error('connecting took too long')),
  );
  outgoing.once('socket', (socket) => {
    socket.setKeepAlive(true, aliveProbeMs);
    socket.once('connect', () => {
      isConnected = true;
      stopWaiting();
    });
  });
  outgoing.once('response', resolve);
  outgoing.once('close', stopWaiting);
  outgoing.on('error', (cause) => reject(isConnected ? cause : new NotConnected(cause.message, { cause })));
  if (silenceMsMax !== undefined)
    outgoing.setTimeout(silenceMsMax, () => outgoing.destroy(new Error('the sandbox stopped responding')));
  if (body === undefined || body instanceof Uint8Array) outgoing.end(body);
  else pipeline(Readable.from(body, { highWaterMark: chunksAheadMax }), outgoing).catch(reject);
  return promise;
};

/** The headers of a request that the link makes on its own. */
export const headersOf = ({
  bearer,
  correlationId,
}: {
  readonly bearer: string;
  readonly correlationId?: string;
}): Record<string, string> => ({
  authorization: `Bearer ${bearer}`,
  ...(correlationId === undefined ? {} : { 'x-correlation-id': correlationId }),
});

/** Throws, and ends the connection, unless the sandbox did what it was asked. */
export const expectStatus = (response: IncomingMessage, status: number): void => {
  if (response.statusCode === status) return;
  response.destroy();
  throw new Error(`the sandbox answered ${response.statusCode}`);
};

/** A body as JSON; throws over the bound. */
export const readJson = async (response: IncomingMessage, bytesMax: number): Promise<unknown> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new Error(`the sandbox answered more than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString());
};

const refusalBytesMax = 64 * 1024;
const refusal = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/** The status of a volume over its bounds; a sandbox of an earlier release says 413. */
export const isOverBounds = ({ statusCode }: IncomingMessage): boolean =>
  statusCode === errorRules.resource_limit_exceeded.status || statusCode === 413;

/** The code and the message of a refusal; throws when it has none. */
export const readRefusal = async (
  response: IncomingMessage,
): Promise<{ readonly code: string; readonly message: string }> => {
  const answer = decode(refusal, await readJson(response, refusalBytesMax));
  if (!answer.ok) throw new Error('the sandbox refused without a reason');
  return answer.value.error;
};
