/** A proxy in front of a DynamoDB endpoint: it forwards every request with a new signature, and counts them by operation. */
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Credentials } from '../../local/endpoint/account.ts';
import { sign } from '../../local/endpoint/signature.ts';

export type CountingProxy = {
  readonly url: string;
  readonly reset: () => void;
  readonly counts: () => Readonly<Record<string, number>>;
  readonly close: () => Promise<void>;
};

export const openCountingProxy = async (target: string, credentials: Credentials): Promise<CountingProxy> => {
  let counts: Record<string, number> = {};
  const pass = (incoming: IncomingMessage, response: ServerResponse): void => {
    const operation =
      String(incoming.headers['x-amz-target'] ?? '')
        .split('.')
        .at(-1) ?? '';
    counts[operation] = (counts[operation] ?? 0) + 1;
    const { method = 'POST', url = '/' } = incoming;
    const sent = { ...incoming.headers, host: new URL(target).host };
    const headers = sign(
      { method, target: url, headers: sent, service: 'dynamodb', region: 'us-east-1' },
      credentials,
    ) as OutgoingHttpHeaders;
    const outgoing = request(`${target}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    incoming.pipe(outgoing);
  };
  const server = createServer(pass).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reset: () => {
      counts = {};
    },
    counts: () => ({ ...counts }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
