/** The client of a deployment as this program uses it. */
import { WebSocket } from 'ws';
import type { ConnectionState } from '#sdk/connection.ts';
import type { SallyportError } from '#sdk/errors.ts';
import { Sallyport } from '#sdk/sallyport.ts';
import type { Deployment } from './deployment.ts';

export const makeClient = ({ url, token }: Deployment): Sallyport =>
  new Sallyport({ url, token, WebSocket: ProgramSocket });

const socketOptions = { handshakeTimeout: 10_000, closeTimeout: 500 };

/** Does not keep an ending program waiting for the server, as the WebSocket of Node would. */
class ProgramSocket extends WebSocket {
  constructor(url: string, protocols: string[]) {
    super(url, protocols, socketOptions);
  }
}

/** Detects a dead connection soon and gives up after some failures, since a user waits at the terminal. */
export const patience = { failuresMax: 10, pingMs: 30_000 };

/** Reports the loss of an established connection, and its end. */
export const stateListener = ({
  onLost,
  onEnd,
}: {
  readonly onLost: () => void;
  readonly onEnd: (why: SallyportError) => void;
}) => {
  let before: ConnectionState['kind'] = 'connecting';
  return (state: ConnectionState): void => {
    if (state.kind === 'lost' && before === 'connected') onLost();
    if (state.kind === 'ended') onEnd(state.error);
    before = state.kind;
  };
};
