/**
 * A proxy in front of a deployment that breaks off event streams and sockets in the middle, as many times as a test asks.
 *
 * It is an origin of its own, which also has pages: what a browser asks of the deployment carries the deployment's origin.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Cuts that are left. */
type Cuts = { streams: number; sockets: number };

type ServedPage = { readonly type: string; readonly text: string };

export type CuttingProxy = {
  readonly url: string;
  readonly cuts: Cuts;
  /** Served at this path instead of the deployment's answer. */
  readonly serve: (path: string, page: ServedPage) => void;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

/** Bytes before a cut: also inside of an event and of a character. */
const streamBytes = 1501;
const socketBytes = 900;

export const startCuttingProxy = async (target: string): Promise<CuttingProxy> => {
  const cuts: Cuts = { streams: 0, sockets: 0 };
  const { host, hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const pages = new Map<string, ServedPage>();
  const headersOf = ({ headers }: IncomingMessage) => ({
    ...headers,
    host,
    ...(headers.origin === undefined ? {} : { origin: target }),
  });
  const forward = (asked: IncomingMessage, answer: ServerResponse): void => {
    const { method, url: path = '/' } = asked;
    const page = pages.get(path);
    if (page !== undefined) return void answer.setHeader('content-type', page.type).end(page.text);
    const onward = request({ hostname, port, method, path, headers: headersOf(asked) }, (answered) => {
      answer.writeHead(answered.statusCode ?? 502, answered.headers);
      const isStream = answered.headers['content-type']?.startsWith('text/event-stream') === true;
      if (isStream && cuts.streams > 0) {
        cutAfter(answered, streamBytes, () => {
          if (cuts.streams === 0) return;
          cuts.streams -= 1;
          answer.destroy();
        });
      }
      answered.pipe(answer);
      answered.once('error', () => answer.destroy());
      answer.once('close', () => onward.destroy());
    });
    onward.once('error', () => answer.destroy());
    asked.pipe(onward);
  };
  const upgrade = (asked: IncomingMessage, client: Duplex, head: Buffer): void => {
    const server = connect({ host: hostname, port: Number(port) });
    const lines = Object.entries(headersOf(asked)).map(([name, value]) => `${name}: ${value}`);
    server.write(`${asked.method} ${asked.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    server.write(head);
    if (cuts.sockets > 0) {
      cutAfter(server, socketBytes, () => {
        if (cuts.sockets === 0) return;
        cuts.sockets -= 1;
        client.destroy();
      });
    }
    server.pipe(client);
    client.pipe(server);
    for (const [one, other] of [
      [server, client],
      [client, server],
    ] as const) {
      one.once('error', () => other.destroy());
      one.once('close', () => other.destroy());
    }
  };
  const proxy = createServer(forward).on('upgrade', upgrade);
  proxy.on('connection', (socket) => sockets.add(socket));
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    cuts,
    serve: (path, page) => void pages.set(path, page),
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await once(proxy.close(), 'close');
    },
  };
};

const cutAfter = (stream: IncomingMessage | Socket, bytesMax: number, cut: () => void): void => {
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes >= bytesMax) cut();
  });
};
