/**
 * Upgrades of previews: the function decides who may connect where, and the gateway joins the client with the sandbox's
 * server. A refusal of the function is the answer. It is asked again while the connection is open, which counts as use of the
 * sandbox: a refusal ends the connection. AWS has no such connection (docs/spec/aws.md).
 */
import { randomUUID } from 'node:crypto';
import {
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as openRequest,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { handshakeHeaders, tunnelHeaders, upgradeProtocol } from '#shared/contracts/preview-upgrade.ts';
import type { FunctionHost } from '../lambda/function-host.ts';
import { makeProxyEvent, type RouteMatch } from './proxy-event.ts';
import { openHeadReader } from './rest-integration.ts';

type PortUpgrade = {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly functions: FunctionHost;
  readonly route: RouteMatch;
  /** The interval at which the function is asked again. */
  readonly checkMs: number;
};

/** Access has ended; a rate limit or a failure, in contrast, may pass. */
const lasting: readonly number[] = [401, 403, 404];

export const upgradeToPort = async (upgrade: PortUpgrade): Promise<void> => {
  const { socket } = upgrade;
  const answer = await askFunction(upgrade).catch(() => undefined);
  // The client has already left: nothing would end what begins here, and each question counts as use of the sandbox.
  if (socket.destroyed) return;
  if (answer === undefined) return reply(socket, { status: 502, headers: {}, body: '' });
  const address = answer.headers[tunnelHeaders.address];
  if (typeof address !== 'string') return reply(socket, answer);
  join(upgrade, address, answer.headers);
  watchAccess(upgrade);
};

/** By the client's own request, so that token, cookie and session are read as for a new one. */
const watchAccess = (upgrade: PortUpgrade): void => {
  const { socket, checkMs } = upgrade;
  let isAsking = false;
  const timer = setInterval(async () => {
    if (isAsking) return;
    isAsking = true;
    const answer = await askFunction(upgrade).catch(() => undefined);
    isAsking = false;
    if (answer !== undefined && lasting.includes(answer.status)) socket.destroy();
  }, checkMs);
  timer.unref();
  socket.once('close', () => clearInterval(timer));
};

type Answer = { readonly status: number; readonly headers: OutgoingHttpHeaders; readonly body: string };

/** A page is never sent to a client that wants a connection. */
const answerBytesMax = 256 * 1024;

const askFunction = async ({ request, functions, route }: PortUpgrade): Promise<Answer | undefined> => {
  const event = makeProxyEvent({ request, route, body: Buffer.alloc(0), requestId: randomUUID() });
  const asked = { ...event, requestContext: { ...event.requestContext, protocol: upgradeProtocol } };
  const reader = openHeadReader();
  let answer: Answer | undefined;
  await functions.invokeStreamed(route.functionName, JSON.stringify(asked), {
    began: () => undefined,
    chunk: (bytes) => {
      if (answer !== undefined) {
        if (answer.body.length < answerBytesMax)
          answer = { ...answer, body: answer.body + Buffer.from(bytes).toString() };
        return;
      }
      const read = reader.read(bytes);
      if (typeof read !== 'string') answer = { ...read.head, body: read.body.toString() };
    },
  });
  return answer;
};

const reply = (socket: Duplex, { status, headers, body }: Answer): void => {
  const kept = Object.entries({ ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' });
  const lines = kept.map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, '', body].join('\r\n'));
};

const join = (
  { request, socket, head }: PortUpgrade,
  address: string,
  headers: OutgoingHttpHeaders,
): void => {
  const { hostname, port } = new URL(address);
  const outgoing = openRequest({
    host: hostname,
    port,
    path: String(headers[tunnelHeaders.path]),
    agent: false,
    headers: {
      ...handshakeHeaders(request.headers),
      ...(request.headers.origin === undefined ? {} : { origin: request.headers.origin }),
      authorization: `Bearer ${headers[tunnelHeaders.bearer]}`,
    },
  });
  // The server of the sandbox may never answer.
  const abandon = (): void => void outgoing.destroy();
  socket.once('close', abandon);
  outgoing.once('upgrade', (answer, inner, rest) => {
    socket.off('close', abandon);
    const lines = Object.entries(handshakeHeaders(answer.headers)).map(
      ([name, value]) => `${name}: ${value}`,
    );
    socket.write(['HTTP/1.1 101 Switching Protocols', ...lines, '', ''].join('\r\n'));
    socket.write(rest);
    inner.write(head);
    inner.on('error', () => socket.destroy());
    socket.once('close', () => inner.destroy());
    inner.pipe(socket).pipe(inner);
  });
  outgoing.once('response', (answer) => {
    answer.resume();
    reply(socket, { status: answer.statusCode ?? 502, headers: {}, body: '' });
  });
  outgoing.once('error', () => reply(socket, { status: 502, headers: {}, body: '' }));
  outgoing.end();
};
