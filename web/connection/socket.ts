/**
 * One socket of one ticket: frames in, actions out, and exactly one end.
 *
 * After its end, or after it was left, it says nothing more, whatever the browser still delivers.
 */
import { type ClientAction, type Frame, subprotocol, ticketPrefix } from './protocol.ts';

export type SocketOptions = {
  readonly ticket: string;
  readonly query: Readonly<Record<string, string>>;
  readonly onFrame: (frame: Frame) => void;
  readonly onEnd: () => void;
};

export type Socket = { readonly send: (action: ClientAction) => void; readonly leave: () => void };

export const openSocket = ({ ticket, query, onFrame, onEnd }: SocketOptions): Socket => {
  const url = new URL(`/ws?${new URLSearchParams(query)}`, location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  const socket = new WebSocket(url, [subprotocol, ticketPrefix + ticket]);
  const listening = new AbortController();
  const { signal } = listening;
  socket.addEventListener('message', ({ data }) => onFrame(JSON.parse(String(data))), { signal });
  socket.addEventListener('close', () => onEnd(), { signal });
  return {
    send: (action) => socket.send(JSON.stringify(action)),
    leave: () => {
      listening.abort();
      // One that is still connecting cannot be closed without an error in the console.
      if (socket.readyState === WebSocket.CONNECTING)
        socket.addEventListener('open', () => socket.close(), { once: true });
      else socket.close();
    },
  };
};
