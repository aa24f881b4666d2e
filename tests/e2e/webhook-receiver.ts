/** A receiver of webhooks on loopback that can be down, refuse, redirect, and come back at the same address. */
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

export type Delivered = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The status it was answered with. */
  readonly status: number;
  readonly at: number;
};

export type Receiver = {
  readonly url: string;
  readonly host: string;
  readonly delivered: readonly Delivered[];
  /** Its answer from now on. */
  answer: { status: number; location?: string };
  readonly down: () => Promise<void>;
  readonly up: () => Promise<void>;
};

export const openReceiver = async (): Promise<Receiver> => {
  const delivered: Delivered[] = [];
  const server = http.createServer(async (request, response) => {
    const body = await text(request);
    const { status, location } = receiver.answer;
    const headers = request.headers as Record<string, string>;
    delivered.push({ path: request.url ?? '', headers, body, status, at: Date.now() });
    response.writeHead(status, location === undefined ? {} : { location }).end();
  });
  const listen = async (port: number): Promise<number> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const port = await listen(0);
  const host = `127.0.0.1:${port}`;
  const receiver: Receiver = {
    url: `http://${host}/hooks`,
    host,
    delivered,
    answer: { status: 200 },
    down: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
    up: async () => void (await listen(port)),
  };
  return receiver;
};

export type Told = {
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, string>>;
};

/** The accepted deliveries of one webhook, each verified by the public library, which throws for a bad one. */
export const verified = (
  { delivered }: Receiver,
  { path: own, secret }: { readonly path: string; readonly secret: string },
): readonly Told[] =>
  delivered
    .filter(({ status, path }) => status === 200 && path === own)
    .map(({ body, headers }) => new Webhook(secret).verify(body, { ...headers }) as Told);
