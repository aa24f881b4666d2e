/** Test servers of user code on ports that may be shown. */
import type { Server } from 'node:net';

export type Listening = Pick<Server, 'listen' | 'close' | 'once' | 'off'>;

const portMin = 8100;
const portMax = 8900;

/** Listens on the first free port that may be shown, and returns it. */
export const listenShown = async (server: Listening): Promise<number> => {
  for (let port = portMin; port < portMax; port += 1) {
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (isFree) return port;
  }
  throw new Error('no port is free');
};
