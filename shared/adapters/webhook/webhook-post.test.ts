/** Requests to a receiver, and the outcome of its answers, over real sockets on loopback. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, test } from 'vitest';
import { type Loopback, listen, listenRaw } from '../mcp/fixtures/loopback-servers.ts';
import { secretMaker } from './signature.ts';
import { makeWebhookPost } from './webhook-post.ts';

const servers: Pick<Loopback, 'stop'>[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map(({ stop }) => stop()));
});
const receiver = async (
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<Loopback> => {
  const server = await listen(answer);
  servers.push(server);
  return server;
};

const post = makeWebhookPost({ allowedPrivateHosts: ['127.0.0.1'], attemptMs: 1000 });
const secret = secretMaker.newSecret();
const body = JSON.stringify({ type: 'test', data: { title: 'Größe' } });
const request = (url: string) => ({ url, secret, id: 'msg_1', at: Date.now(), body });

describe('a request', () => {
  test('is verified by the public library of Standard Webhooks', async () => {
    const got: { headers: IncomingMessage['headers']; body: string; method: string | undefined }[] = [];
    const { url } = await receiver(async (incoming, response) => {
      const { headers, method } = incoming;
      got.push({ headers, method, body: await text(incoming) });
      response.writeHead(204).end();
    });
    expect(await post.send(request(url))).toEqual({ status: 204 });
    const [first] = got;
    if (first === undefined) throw new Error('nothing came');
    expect(first.method).toBe('POST');
    expect(first.headers['content-type']).toBe('application/json');
    const headers = first.headers as Record<string, string>;
    expect(new Webhook(secret).verify(first.body, headers)).toEqual(JSON.parse(body));
    expect(() => new Webhook(secretMaker.newSecret()).verify(first.body, headers)).toThrow();
    expect(() => new Webhook(secret).verify(`${first.body} `, headers)).toThrow();
  });

  test('has a key of 32 bytes', () => {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  });

  test('has headers that only this file sets', async () => {
    const { url, requests } = await receiver((_, response) => response.end());
    await post.send(request(url));
    expect(Object.keys(requests[0]?.headers ?? {}).sort()).toEqual([
      'accept-encoding',
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
      'webhook-id',
      'webhook-signature',
      'webhook-timestamp',
    ]);
  });
});

describe('is not accepted', () => {
  test.each([400, 404, 410, 429, 500, 503])('with HTTP %i', async (status) => {
    const { url } = await receiver((_, response) => response.writeHead(status).end('no'));
    expect(await post.send(request(url))).toEqual({ status, error: `it answered with HTTP ${status}` });
  });

  test.each([301, 302, 303, 307, 308])(
    'with a redirect of %i, which is not followed (WH5)',
    async (status) => {
      const other = await receiver((_, response) => response.end());
      const { url } = await receiver((_, response) =>
        response.writeHead(status, { location: other.url }).end(),
      );
      expect(await post.send(request(url))).toEqual({
        status,
        error: `it answered with HTTP ${status}: redirects are not followed`,
      });
      expect(other.requests).toEqual([]);
    },
  );

  test('by a receiver that is down', async () => {
    const server = await listen(() => undefined);
    await server.stop();
    expect(await post.send(request(server.url))).toEqual({ error: 'it refused the connection' });
  });

  test('by a receiver that is silent until the timeout, and its connection is closed', async () => {
    const server = await listenRaw((socket) => void socket.resume());
    servers.push(server);
    expect(await post.send(request(server.url))).toEqual({ error: 'it did not answer in time' });
    await expect.poll(() => server.openCount()).toBe(0);
  });

  test('by a receiver whose answer does not end in time', async () => {
    const { url } = await receiver((_, response) => void response.writeHead(200).write('a'));
    expect(await post.send(request(url))).toEqual({ error: 'it did not answer in time' });
  });

  test.each(['http://127.0.0.1:9/', 'http://localhost:9/', 'http://[::1]:9/', 'http://169.254.169.254/'])(
    'at %s, which is private',
    async (url) => {
      const strict = makeWebhookPost({ allowedPrivateHosts: [] });
      const { error } = await strict.send(request(url));
      expect(error).toMatch(/is private, loopback or link-local$/);
    },
  );

  test('by a name that resolves to a private address', async () => {
    const resolve = async () => [{ address: '10.0.0.1', family: 4 }];
    const strict = makeWebhookPost({ allowedPrivateHosts: [], resolve });
    const { error } = await strict.send(request('https://rebind.test/'));
    expect(error).toBe('the address of rebind.test is private, loopback or link-local');
  });
});

test('an answer is read up to 64 KB and discarded', async () => {
  let written = 0;
  const server = await receiver((_, response) => {
    response.writeHead(200);
    const more = (): void => {
      if (response.destroyed || written > 50_000_000) return;
      written += 65_536;
      response.write(Buffer.alloc(65_536), more);
    };
    more();
  });
  expect(await post.send(request(server.url))).toEqual({ status: 200 });
  await expect.poll(() => server.openCount()).toBe(0);
  expect(written).toBeLessThan(20_000_000);
});
