/** Servers on loopback that stand for hosts outside: HTTP, and TLS with a certificate that nobody trusts. */
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { certificate, privateKey } from '../../shared/adapters/mcp/fixtures/certificate.ts';

export type OutsideHost = { readonly port: number; readonly close: () => void };

const listening = async (
  server: Server & { readonly closeAllConnections?: () => void },
): Promise<OutsideHost> => {
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    close: () => {
      server.closeAllConnections?.();
      server.close();
    },
  };
};

export const openHttpHost = (onRequest: RequestListener): Promise<OutsideHost> =>
  listening(createServer(onRequest));

export const openTlsHost = (onRequest: RequestListener): Promise<OutsideHost> =>
  listening(createTlsServer({ key: privateKey, cert: certificate }, onRequest));

/** With a certificate of an authority that the test has made trusted, for the names it has. */
export const openTrustedHost = (
  credentials: { readonly key: string; readonly cert: string },
  onRequest: RequestListener,
): Promise<OutsideHost> => listening(createTlsServer(credentials, onRequest));

/** Any bytes, to a program that is waited for. */
export const openTcpHost = (server: Server): Promise<OutsideHost> => listening(server);
