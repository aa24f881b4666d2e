/**
 * A pool of HTTP connections to dynoxide, with one request at a time on each.
 *
 * The general client of Node.js costs as much as the call itself. This one writes head and body at once and reads
 * answers with a Content-Length, as dynoxide sends them; anything else closes the connection and fails the request.
 */
import type { Socket } from 'node:net';

type DynoxideResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

type Connections = {
  readonly send: (head: string, body: Buffer) => Promise<DynoxideResponse>;
  readonly close: () => void;
};

/** SQLite writes one at a time, so a request waits for a connection no longer than it would wait there. */
const connectionsMax = 32;
const headBytesMax = 16 * 1024;
const headEnd = Buffer.from('\r\n\r\n');

export const openConnections = (connect: () => Promise<Socket>): Connections => {
  const free: Socket[] = [];
  const all = new Set<Socket>();
  const waiting: ((socket: Promise<Socket>) => void)[] = [];
  let opened = 0;

  const open = async (): Promise<Socket> => {
    opened += 1;
    try {
      const socket = await connect();
      all.add(socket);
      socket.once('close', () => {
        all.delete(socket);
        const index = free.indexOf(socket);
        if (index >= 0) free.splice(index, 1);
        replace();
      });
      // A running request learns of it from `close`.
      socket.on('error', () => socket.destroy());
      return socket;
    } catch (cause) {
      replace();
      throw cause;
    }
  };
  /** One is gone, or did not come: the next request that waits has another, and if that does not come either, its failure. */
  const replace = (): void => {
    opened -= 1;
    waiting.shift()?.(open());
  };
  const acquire = (): Socket | Promise<Socket> => {
    const socket = free.pop();
    if (socket !== undefined) return socket;
    return opened < connectionsMax
      ? open()
      : new Promise((resolve, reject) => {
          waiting.push((next) => void next.then(resolve, reject));
        });
  };
  const release = (socket: Socket): void => {
    if (socket.destroyed) return;
    const next = waiting.shift();
    if (next === undefined) free.push(socket);
    else next(Promise.resolve(socket));
  };

  return {
    send: async (head, body) => {
      const socket = await acquire();
      const answer = await exchange(socket, head, body);
      release(socket);
      return answer;
    },
    close: () => {
      for (const socket of all) socket.destroy();
    },
  };
};

const exchange = (socket: Socket, head: string, body: Buffer): Promise<DynoxideResponse> =>
  new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    const settle = (): void => {
      socket.off('data', read);
      socket.off('close', onClose);
    };
    const onClose = (): void => {
      settle();
      reject(new Error('dynoxide closed the connection'));
    };
    const read = (chunk: Buffer): void => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      try {
        const answer = parseAnswer(received);
        if (answer === undefined) return;
        settle();
        resolve(answer);
      } catch (cause) {
        settle();
        socket.destroy();
        reject(cause);
      }
    };
    socket.on('data', read);
    socket.once('close', onClose);
    socket.cork();
    socket.write(head, 'latin1');
    socket.write(body);
    socket.uncork();
  });

/** Undefined while a part is missing. */
const parseAnswer = (received: Buffer): DynoxideResponse | undefined => {
  const end = received.indexOf(headEnd);
  if (end < 0) {
    if (received.length > headBytesMax) throw new Error('dynoxide sent a response head that is too long');
    return undefined;
  }
  const [statusLine = '', ...lines] = received.toString('latin1', 0, end).split('\r\n');
  const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(statusLine) ?? [];
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const length = Number(headers['content-length']);
  if (status === undefined || !Number.isSafeInteger(length))
    throw new Error('dynoxide sent a response without Content-Length');
  const body = received.subarray(end + headEnd.length);
  if (body.length < length) return undefined;
  if (body.length > length) throw new Error('dynoxide sent more than its Content-Length');
  return { status: Number(status), headers, body };
};
