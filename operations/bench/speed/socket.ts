/** A socket of one session: it sends a message and follows the frames that come. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Platform } from './platform.ts';

export type SeenFrame = {
  readonly type: string;
  readonly seq: number | null;
  readonly data: Readonly<Record<string, unknown>>;
};

export type Socket = {
  readonly say: (text: string) => void;
  /** Resolves when the look at a frame says so; it sees those that come from now on. */
  readonly follow: (isLast: (frame: SeenFrame) => boolean) => Promise<void>;
  readonly close: () => Promise<void>;
};

const waitMsMax = 120_000;

export const openSocket = async (
  { url, token }: Pick<Platform, 'url' | 'token'>,
  query: Readonly<Record<string, string>>,
  seen: (frame: SeenFrame) => void = () => undefined,
): Promise<Socket> => {
  const address = `${url.replace('http', 'ws')}/ws?${new URLSearchParams(query)}`;
  const socket = new WebSocket(address, { headers: { authorization: `Bearer ${token}` } });
  let look: ((frame: SeenFrame) => void) | undefined;
  socket.on('message', (bytes) => {
    const frame = JSON.parse(String(bytes)) as SeenFrame;
    seen(frame);
    look?.(frame);
  });
  await once(socket, 'open');
  return {
    say: (text) => socket.send(JSON.stringify({ action: 'message', text })),
    follow: (isLast) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error('no answer came in time')), waitMsMax);
        look = (frame) => {
          if (frame.type === 'error') reject(new Error(JSON.stringify(frame.data)));
          else if (isLast(frame)) resolve();
          else return;
          clearTimeout(timer);
          look = undefined;
        };
      }),
    close: async () => {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
};
