/**
 * The client of the relay's socket: one connection, a request a line, answers by their ids.
 *
 * A refusal of the platform is thrown with its words; a socket that is not there or closes is said in plain words as well.
 */
import { connect, type Socket } from 'node:net';

const socketPath = '/run/sallyport/relay.sock';

export type RelayClient = {
  readonly ask: (method: string, params: object) => Promise<unknown>;
  readonly close: () => void;
};

export class RelayError extends Error {
  override readonly name = 'RelayError';
}

type Answer = {
  /** Null where the platform could not read the request, as one that is too long. */
  readonly id: number | null;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
};
type Waiting = { readonly resolve: (result: unknown) => void; readonly reject: (error: Error) => void };

export const openRelayClient = (path: string = socketPath): RelayClient => {
  const waiting = new Map<number, Waiting>();
  let socket: Socket | undefined;
  let lastId = 0;

  const rejectAll = (message: string): void => {
    for (const { reject } of waiting.values()) reject(new RelayError(message));
    waiting.clear();
  };
  const fail = (message: string): void => {
    socket = undefined;
    rejectAll(message);
  };
  const take = (line: string): void => {
    const { id, result, error } = JSON.parse(line) as Answer;
    if (id === null) {
      rejectAll(error?.message ?? 'the relay answered nothing that was asked');
      return;
    }
    const asked = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) asked?.resolve(result);
    else asked?.reject(new RelayError(error.message));
  };
  const open = (): Socket => {
    const opened = connect(path);
    opened.on('error', ({ message }) => fail(`the relay cannot be reached: ${message}`));
    opened.on('close', () => fail('the relay closed the connection'));
    takeLines(opened, take);
    return opened;
  };
  return {
    ask: (method, params) =>
      new Promise((resolve, reject) => {
        socket ??= open();
        lastId += 1;
        waiting.set(lastId, { resolve, reject });
        socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params })}\n`);
      }),
    close: () => socket?.destroy(),
  };
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
