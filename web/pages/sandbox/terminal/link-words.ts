/** Text about a terminal's connection that is not established. A terminal needs a WebSocket. */
import type { ConnectionState } from '#sdk/connection.ts';
import { isSocketBlocked } from '../../../session/view-state.ts';

export const linkWords = (state: ConnectionState, isOnline: boolean): string | undefined => {
  if (state.kind === 'ended') return state.error.message;
  if (state.kind !== 'lost') return undefined;
  return isSocketBlocked(state, isOnline)
    ? 'The WebSocket does not open, and a terminal needs one: ask the operator of your proxy to allow it. The shell keeps running.'
    : 'Connection lost. It is restored automatically; the shell keeps running.';
};
