/** A door before `/mcp` that signs its visitors in: the conformance suite cannot send a token. All else is passed on as it is. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';

export type Endpoint = { readonly url: string; readonly close: () => Promise<void> };

export const openEndpoint = async ({
  url,
  token,
}: {
  readonly url: string;
  readonly token: string;
}): Promise<Endpoint> => {
  const server = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
    const { method, url: path } = incoming;
    const passed = request(new URL(path ?? '/', url), { method, headers, agent: false }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      outgoing.flushHeaders();
      pipeline(answer, outgoing).catch(() => outgoing.destroy());
    });
    outgoing.once('close', () => passed.destroy());
    pipeline(incoming, passed).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
