/** Text about a terminal that has ended, and about a connection that is not established. A terminal needs a WebSocket. */
import type { ConnectionState } from '#sdk/connection.ts';
import type { ProcessExit } from '#sdk/process-output.ts';
import { isSocketBlocked } from '../../../session/view-state.ts';

export const linkWords = (state: ConnectionState, isOnline: boolean): string | undefined => {
  if (state.kind === 'ended') return state.error.message;
  if (state.kind !== 'lost') return undefined;
  return isSocketBlocked(state, isOnline)
    ? 'The WebSocket does not open, and a terminal needs one: ask the operator of your proxy to allow it. The shell keeps running.'
    : 'Connection lost. It is restored automatically; the shell keeps running.';
};

export const exitWords = ({ exitCode, isLost, isOutputLost }: ProcessExit): string => {
  if (isLost) return 'The sandbox has stopped, and the terminal ended with it.';
  return isOutputLost
    ? 'The shell has ended, and the sandbox has stopped: output that was not shown is lost.'
    : `The shell has ended with exit code ${exitCode}.`;
};
