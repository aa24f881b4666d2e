/**
 * The client of the relay's socket: one connection, one request per line, answers matched by their ids.
 *
 * A refusal of the platform is thrown with its own message. If the socket does not exist or closes, the error says so in plain
 * words.
 */
import { connect, type Socket } from 'node:net';
import { relayLineBytesMax } from '#shared/domain/relay/limits.ts';

const socketPath = '/run/sallyport/relay.sock';
const tooLong = `a message has at most ${relayLineBytesMax} bytes`;

export type RelayClient = {
  readonly ask: (method: string, params: object) => Promise<unknown>;
  readonly close: () => void;
};

export class RelayError extends Error {
  override readonly name = 'RelayError';
}

type Answer = {
  /** Null where the platform could not read the request. */
  readonly id: number | null;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
};
type Waiting = { readonly resolve: (result: unknown) => void; readonly reject: (error: Error) => void };
type Connection = { readonly socket: Socket; readonly waiting: Map<number, Waiting> };

export const openRelayClient = (path: string = socketPath): RelayClient => {
  let connection: Connection | undefined;
  let lastId = 0;

  const open = (): Connection => {
    const opened = openConnection(path, () => {
      if (connection === opened) connection = undefined;
    });
    return opened;
  };
  return {
    ask: (method, params) =>
      new Promise((resolve, reject) => {
        const id = lastId + 1;
        const line = `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
        // The relay hears nothing more of a connection with one that is too long.
        if (Buffer.byteLength(line) > relayLineBytesMax) throw new RelayError(tooLong);
        lastId = id;
        connection ??= open();
        connection.waiting.set(id, { resolve, reject });
        connection.socket.write(line);
      }),
    close: () => connection?.socket.destroy(),
  };
};

/** `leave`: it takes no further request. */
const openConnection = (path: string, leave: () => void): Connection => {
  const socket = connect(path);
  const waiting = new Map<number, Waiting>();
  let refusal: string | undefined;
  const fail = (message: string): void => {
    leave();
    for (const { reject } of waiting.values()) reject(new RelayError(refusal ?? message));
    waiting.clear();
  };
  takeLines(socket, (line) => {
    const { id, result, error } = JSON.parse(line) as Answer;
    if (id === null) {
      // It says nothing of the others: those that the relay has heard are answered before it closes the connection.
      refusal ??= error?.message;
      leave();
      socket.end();
      return;
    }
    const asked = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) asked?.resolve(result);
    else asked?.reject(new RelayError(error.message));
  });
  socket.on('error', ({ message }) => fail(`the relay cannot be reached: ${message}`));
  socket.on('close', () => fail('the relay closed the connection'));
  return { socket, waiting };
};

/** A line feed alone ends a line: an answer may hold the other line ends of Unicode as they are. */
const takeLines = (socket: Socket, take: (line: string) => void): void => {
  let rest = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
  });
};
