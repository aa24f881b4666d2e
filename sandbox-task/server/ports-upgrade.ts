/**
 * The upgrade of a connection to a port of user code: a WebSocket that is passed on both ways, unread.
 *
 * The same ports, and the same headers held back, as for requests (ports-endpoint.ts). Of the answer only what a handshake
 * needs is passed on; a server that refuses the upgrade is answered for with its status alone.
 */
import { type IncomingMessage, request as openRequest, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { handshakeHeaders } from '#shared/contracts/upgrade.ts';
import { openPort, parseTarget, userHeaders } from './ports-endpoint.ts';

export type Upgrade = {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** Bytes that came with the request. */
  readonly head: Buffer;
};

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
