/** Ports for tests: any that is free, and those of user code's servers that may be shown. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';

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

/** Free a moment ago: its user listens at once. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};
