/**
 * The relay's socket: programs of the sandbox call the platform, one JSON-RPC 2.0 message a line.
 *
 * Each request is a stream of the relay of its own, so that requests of one connection are answered as they end. This end
 * decides nothing: rights are judged on the platform's side. A line over its bound closes its connection; a request that
 * the relay cannot carry is answered with a reason. Invariants RL4 and PS1: docs/spec/relay.md.
 */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import {
  encodeAnswer,
  failureCodes,
  type RelayAnswer,
  type RelayRequest,
  readRequest,
} from '#shared/contracts/relay/rpc.ts';
import { relayCallsMax, relayClientsMax, relayLineBytesMax } from '#shared/domain/relay/limits.ts';
import type { Log } from '../logs.ts';
import { RelayRefusal, type SandboxRelay } from './relay.ts';
import { leftBy, openRelaySocket } from './relay-socket.ts';
import { repeatable, retryWithNextHolder } from './retry-with-next-holder.ts';

type SocketParts = { readonly relay: SandboxRelay; readonly log: Log };

const newline = 10;
const tooLong = `a message has at most ${relayLineBytesMax} bytes`;

/** Every program of the sandbox may use it. */
export const listenOn = (server: Server, path: string): void => {
  server.listen({ path, readableAll: true, writableAll: true });
};

export const createPlatformSocket = ({ relay, log }: SocketParts): Server => {
  // A script may close its side before its answers have come.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    serve(relay, socket).catch(() => socket.destroy());
  });
  server.maxConnections = relayClientsMax;
  server.on('error', (error) => log.warn('the socket of the relay failed', { cause: error.message }));
  return server;
};

const serve = async (relay: SandboxRelay, socket: Socket): Promise<void> => {
  socket.on('error', () => socket.destroy());
  const left = leftBy(socket);
  const open = new Set<Promise<void>>();
  const say = (answer: RelayAnswer): void => {
    if (!socket.destroyed) socket.write(encodeAnswer(answer));
  };
  for await (const line of linesOf(socket)) {
    if (socket.writableNeedDrain) await taken(socket, left);
    if (line === 'too long') {
      say(failed(null, { code: failureCodes.invalidRequest, message: tooLong }));
      break;
    }
    const read = readRequest(line);
    if (!read.ok) say(failed(read.id, { code: read.code, message: read.problem }));
    else if (read.request.id !== undefined) {
      if (open.size >= relayCallsMax) await Promise.race(open);
      const { id } = read.request;
      const call = answerTo(relay, { ...repeatable(read.request, line), id, left }).then(say);
      const ended = call.finally(() => open.delete(ended));
      open.add(ended);
    }
  }
  await Promise.all(open);
  socket.end(() => socket.destroy());
};

/** A program that does not read its answers is not listened to until it does or leaves. */
const taken = async (socket: Socket, left: AbortSignal): Promise<void> => {
  await once(socket, 'drain', { signal: left });
};

type Asked = {
  readonly line: Uint8Array;
  readonly id: NonNullable<RelayRequest['id']>;
  /** Done twice it has no further effect. */
  readonly mayRepeat: boolean;
  /** The program closes its connection. */
  readonly left: AbortSignal;
};

const answerTo = async (relay: SandboxRelay, { line, id, mayRepeat, left }: Asked): Promise<RelayAnswer> => {
  const ask = async (): Promise<RelayAnswer> => {
    const stream = await openRelaySocket(relay, { type: 'platform' }, left);
    try {
      stream.end(line);
      return { ...(JSON.parse(await textOf(stream)) as RelayAnswer), id };
    } finally {
      stream.destroy();
    }
  };
  try {
    return await retryWithNextHolder(ask, () => mayRepeat);
  } catch (cause) {
    const message = cause instanceof RelayRefusal ? cause.message : 'the relay was lost before the answer';
    return failed(id, { code: failureCodes.refused, message, data: { code: 'sandbox_unavailable' } });
  }
};

const textOf = async (stream: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > relayLineBytesMax) throw new Error('an answer over its bound');
  }
  return Buffer.concat(chunks).toString();
};

const failed = (id: RelayAnswer['id'], error: NonNullable<RelayAnswer['error']>): RelayAnswer => ({
  jsonrpc: '2.0',
  id,
  error,
});

/** Whole lines; a connection that ends in the middle of one has sent nothing more. */
async function* linesOf(socket: Socket): AsyncGenerator<Buffer | 'too long'> {
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      held.push(chunk.subarray(from, at));
      from = at + 1;
      const line = Buffer.concat(held);
      held = [];
      bytes = 0;
      if (line.length >= relayLineBytesMax) return void (yield 'too long');
      if (line.length > 0) yield line;
    }
    held.push(chunk.subarray(from));
    bytes += chunk.length - from;
    if (bytes >= relayLineBytesMax) return void (yield 'too long');
  }
}
