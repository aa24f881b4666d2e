/**
 * One socket of one ticket: frames in, actions out, and exactly one end.
 *
 * After its end, or after it was left, it says nothing more, whatever the browser still delivers.
 * @import { ClientAction, Frame } from './protocol.js'
 */
import { subprotocol, ticketPrefix } from './protocol.js';

/**
 * @typedef {{
 *   readonly ticket: string,
 *   readonly sessionId: string | null,
 *   readonly since: number,
 *   readonly onFrame: (frame: Frame) => void,
 *   readonly onEnd: () => void,
 * }} SocketOptions
 *
 * @typedef {{ readonly send: (action: ClientAction) => void, readonly leave: () => void }} Socket
 */

/**
 * @param {SocketOptions} options
 * @returns {Socket}
 */
export const openSocket = ({ ticket, sessionId, since, onFrame, onEnd }) => {
  const query = new URLSearchParams({ since: String(since) });
  if (sessionId !== null) query.set('sessionId', sessionId);
  const url = new URL(`/ws?${query}`, location.href);
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
      socket.close();
    },
  };
};
