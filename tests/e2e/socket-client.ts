/** A WebSocket client as the protocol describes one: it keeps every frame, drops repeats by number, and waits for what it is told to. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Server } from './server.ts';

export type Received = {
  readonly type: string;
  readonly sessionId: string;
  readonly seq: number | null;
  readonly at: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever a frame holds
  readonly data: any;
};

export type Client = {
  readonly frames: readonly Received[];
  readonly sessionId: () => string;
  readonly send: (action: string, fields?: Readonly<Record<string, unknown>>) => void;
  readonly sendRaw: (text: string) => void;
  /** The first frame that fits, received already or yet to come. */
  readonly until: (fits: (frame: Received) => boolean, what?: string, msMax?: number) => Promise<Received>;
  readonly untilType: (type: string, place?: number) => Promise<Received>;
  readonly closed: Promise<number>;
  readonly close: () => Promise<void>;
  /** Goes without a word. */
  readonly terminate: () => void;
};

const waitMsMax = 180_000;

/** The log's frames by their number: two functions may tell of two events in either order. */
export const inOrder = (frames: readonly Received[]): readonly (Received & { readonly seq: number })[] =>
  frames
    .flatMap((frame) => (frame.seq === null ? [] : [{ ...frame, seq: frame.seq }]))
    .toSorted((one, other) => one.seq - other.seq);

export const connect = async (
  { url, token }: Pick<Server, 'url' | 'token'>,
  query: Readonly<Record<string, string | number>> = {},
): Promise<Client> => {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) search.set(key, String(value));
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws?${search}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const frames: Received[] = [];
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  socket.on('message', (bytes) => {
    const frame = JSON.parse(String(bytes)) as Received;
    const isRepeated = frame.seq !== null && frames.some(({ seq }) => seq === frame.seq);
    if (!isRepeated) frames.push(frame);
  });
  await once(socket, 'open');

  const until: Client['until'] = (fits, what = String(fits), msMax = waitMsMax) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error(`no frame: ${what}; had ${JSON.stringify(frames).slice(0, 4000)}`));
      }, msMax);
      const look = (): void => {
        const frame = frames.find(fits);
        if (frame === undefined) return;
        clearTimeout(timer);
        socket.off('message', look);
        resolve(frame);
      };
      socket.on('message', look);
      look();
    });

  return {
    frames,
    sessionId: () => frames[0]?.sessionId ?? '',
    send: (action, fields = {}) => socket.send(JSON.stringify({ action, ...fields })),
    sendRaw: (text) => socket.send(text),
    until,
    untilType: (type, place = 0) => {
      return until(
        (frame) => frame === frames.filter((one) => one.type === type)[place],
        `${type} (${place})`,
      );
    },
    closed,
    terminate: () => socket.terminate(),
    close: async () => {
      socket.close();
      await closed;
    },
  };
};
