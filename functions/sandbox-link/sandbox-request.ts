/**
 * One HTTP request into a sandbox.
 *
 * Each request opens a connection of its own: one that was kept could lead to a task that is gone, and the
 * silence of a dead address would last for minutes.
 */
import { type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export type SandboxRequest = {
  /** `http://<address>:<port>`, inside the range. */
  readonly target: URL;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | AsyncIterable<Uint8Array> | undefined;
  /** A connection on which nothing moves for so long is broken off. */
  readonly silenceMsMax?: number;
};

/** A sandbox is one security group away: who does not answer by then is not there. */
const connectMsMax = 3000;
/** A silent connection is asked whether its other end still lives. */
const aliveProbeMs = 5000;
/** Chunks of a streamed body that wait to be sent. */
const chunksAheadMax = 2;

/** Ends with the response's headers; its body breaks as the sandbox breaks. */
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
  const giveUp = setTimeout(() => outgoing.destroy(new Error('connecting took too long')), connectMsMax);
  outgoing.once('socket', (socket) => {
    socket.setKeepAlive(true, aliveProbeMs);
    socket.once('connect', () => clearTimeout(giveUp));
  });
  outgoing.once('response', resolve);
  outgoing.once('close', () => clearTimeout(giveUp));
  outgoing.on('error', reject);
  if (silenceMsMax !== undefined)
    outgoing.setTimeout(silenceMsMax, () => outgoing.destroy(new Error('the sandbox fell silent')));
  if (body === undefined || body instanceof Uint8Array) outgoing.end(body);
  else pipeline(Readable.from(body, { highWaterMark: chunksAheadMax }), outgoing).catch(reject);
  return promise;
};

/** Of a request that the link makes on its own. */
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
