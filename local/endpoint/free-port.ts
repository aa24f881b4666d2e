/**
 * A loopback port nobody listens on at the moment: for programs that cannot report which port 0 became.
 *
 * Another process may take it before the program does; the caller sees its child fail and asks again.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

export const findFreePort = async (): Promise<number> => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};
