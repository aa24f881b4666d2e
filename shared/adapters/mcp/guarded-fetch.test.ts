/** Requests that are sent and requests that are refused, with real sockets on loopback and names of these tests. */
import https from 'node:https';
import tls from 'node:tls';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { EgressSettings, Resolve } from '../outbound/checked-address.ts';
import { makeAddressGuard } from './address-guard.ts';
import { certificate, privateKey } from './fixtures/certificate.ts';
import { type Loopback, listen, listenRaw, started, text } from './fixtures/loopback-servers.ts';
import { type GuardedFetch, makeGuardedFetch } from './guarded-fetch.ts';

const servers: Pick<Loopback, 'stop'>[] = [];
const opened: GuardedFetch[] = [];
afterEach(async () => {
  for (const { close } of opened.splice(0)) close();
  await Promise.all(servers.splice(0).map(({ stop }) => stop()));
});
const keep = async <T extends Pick<Loopback, 'stop'>>(server: Promise<T>): Promise<T> => {
  servers.push(await server);
  return server;
};

const resolveTo =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
const allowed: EgressSettings = {
  allowedPrivateHosts: ['good.test', 'other.test', '127.0.0.1', '127.0.0.2'],
  resolve: async (host) => [{ address: host.endsWith('.test') ? '127.0.0.1' : host, family: 4 }],
};
const open = (settings: EgressSettings = allowed, bytesMax = 1_000_000) => {
  const guarded = makeGuardedFetch(settings, bytesMax);
  opened.push(guarded);
  return guarded;
};
const refusal = {
  code: 'invalid_request',
  message: expect.stringMatching(/^the address of .+ is private, loopback or link-local$/),
};
const closed = (server: Pick<Loopback, 'openCount'>) =>
  vi.waitFor(() => expect(server.openCount()).toBe(0), { timeout: 50_000 });

describe('an address that is not public is refused, however it is written', () => {
  const hosts = [
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '0177.0.0.1',
    '2130706433',
    '0x7f000001',
    '127.0.0.1.',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::7f00:1]',
    'localhost',
    'LOCALHOST',
    'localhost.',
    'app.localhost',
    '0',
    '0.0.0.0',
    '10.0.0.1',
    '169.254.169.254',
    '[fd00:ec2::254]',
    '１２７.0.0.1',
  ];
  test.each(hosts)('%s', async (host) => {
    const guard = makeAddressGuard({ allowedPrivateHosts: ['other.test'] });
    await expect(guard.check(`http://${host}:8080/mcp`)).rejects.toMatchObject(refusal);
    const { fetch } = open({ allowedPrivateHosts: ['other.test'] });
    await expect(fetch(`http://${host}:8080/mcp`)).rejects.toMatchObject(refusal);
  });
});

test.each([[['127.0.0.1']], [['93.184.216.34', '10.0.0.1']], [['93.184.216.34', '::1']], [['fe80::1%eth0']]])(
  'a name that resolves to %j is refused',
  async (addresses) => {
    const settings = { allowedPrivateHosts: [], resolve: resolveTo(...addresses) };
    await expect(makeAddressGuard(settings).check('https://rebind.test/')).rejects.toMatchObject(refusal);
    await expect(open(settings).fetch('https://rebind.test/')).rejects.toMatchObject(refusal);
  },
);

test('a public address passes the guard, and so does an unresolvable name', async () => {
  const known = makeAddressGuard({
    allowedPrivateHosts: [],
    resolve: resolveTo('93.184.216.34', '2606:4700::1'),
  });
  await expect(known.check('https://example.test/mcp')).resolves.toBeUndefined();
  const unknown = makeAddressGuard({
    allowedPrivateHosts: [],
    resolve: () => Promise.reject(new Error('no')),
  });
  await expect(unknown.check('https://example.test/mcp')).resolves.toBeUndefined();
});

test.each([
  ['ftp://good.test/', 'URL must start with http:// or https://'],
  ['file:///etc/passwd', 'URL must start with http:// or https://'],
  ['good.test', 'URL must start with http:// or https://'],
  ['http://user:word@good.test/', 'a URL with a user name or a password is refused: send a header instead'],
])('%s is refused', async (url, message) => {
  await expect(makeAddressGuard(allowed).check(url)).rejects.toMatchObject({
    code: 'invalid_request',
    message,
  });
});

test('a private host is allowed by the name that the operator listed', async () => {
  const server = await keep(listen((_request, response) => response.end('hello')));
  const settings = { ...allowed, allowedPrivateHosts: [`good.test:${server.port}`] };
  const response = await open(settings).fetch(`http://good.test:${server.port}/`);
  expect(await response.text()).toBe('hello');
  await expect(open(settings).fetch(`http://127.0.0.1:${server.port}/`)).rejects.toMatchObject(refusal);
  await expect(open(settings).fetch(`http://good.test:${server.port + 1}/`)).rejects.toMatchObject(refusal);
});

test('the connection goes to the address that was checked, and the resolver is asked once', async () => {
  const server = await keep(listen((request, response) => response.end(request.headers.host)));
  const answers = ['127.0.0.1', '10.0.0.1'];
  const resolve = vi.fn<Resolve>(async () => [{ address: answers.shift() ?? '', family: 4 }]);
  const { fetch } = open({ allowedPrivateHosts: ['good.test'], resolve });
  for (let request = 0; request < 2; request += 1) {
    const response = await fetch(`http://good.test:${server.port}/`);
    expect(await response.text()).toBe(`good.test:${server.port}`);
  }
  expect(resolve).toHaveBeenCalledTimes(1);
  expect(server.openCount()).toBe(1);
});

test('a method, its headers and its body arrive; no compression is requested', async () => {
  const server = await keep(
    listen(async (request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify([request.method, request.url, request.headers, await text(request)]));
    }),
  );
  const response = await open().fetch(`http://127.0.0.1:${server.port}/a?b=c#d`, {
    method: 'POST',
    headers: { Authorization: 'Bearer x', 'content-type': 'text/plain' },
    body: 'grüße',
  });
  expect(await response.json()).toEqual([
    'POST',
    '/a?b=c',
    expect.objectContaining({
      authorization: 'Bearer x',
      'content-type': 'text/plain',
      'accept-encoding': 'identity',
    }),
    'grüße',
  ]);
});

describe('redirects', () => {
  const redirecting = (to: (path: string) => [number, string]) =>
    keep(
      listen(async (request, response) => {
        const body = await text(request);
        if (request.url === '/end') {
          const { authorization, 'x-team': team, accept } = request.headers;
          return response.end(JSON.stringify({ method: request.method, authorization, team, accept, body }));
        }
        const [status, location] = to(request.url ?? '/');
        return response.writeHead(status, { location }).end('moved');
      }),
    );
  const post = {
    method: 'POST',
    body: 'text',
    headers: { authorization: 'Bearer x', 'X-Team': 'a', accept: 'text/plain' },
  };

  test.each([
    'http://10.0.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://localhost:1/',
    '//[::1]/',
  ])('one to %s is refused', async (location) => {
    const server = await redirecting(() => [307, location]);
    const { fetch } = open({ allowedPrivateHosts: ['127.0.0.1'] });
    await expect(fetch(server.url, post)).rejects.toMatchObject(refusal);
    await closed(server);
  });

  test('one to another scheme is refused', async () => {
    const server = await redirecting(() => [302, 'file:///etc/passwd']);
    await expect(open().fetch(server.url)).rejects.toMatchObject({ code: 'invalid_request' });
  });

  test.each([307, 308])(
    '%d keeps the method, the body and, at the same origin, the headers',
    async (status) => {
      const server = await redirecting(() => [status, '/end']);
      const response = await open().fetch(server.url, post);
      expect(await response.json()).toEqual({
        method: 'POST',
        authorization: 'Bearer x',
        team: 'a',
        accept: 'text/plain',
        body: 'text',
      });
    },
  );

  test.each([301, 302, 303])('%d becomes a GET without a body', async (status) => {
    const server = await redirecting(() => [status, '/end']);
    const response = await open().fetch(server.url, post);
    expect(await response.json()).toMatchObject({ method: 'GET', body: '' });
  });

  test('another origin gets no registered header, nor does a later redirect back', async () => {
    const server = await redirecting((path) =>
      path === '/mcp'
        ? [307, `http://other.test:${server.port}/back`]
        : [307, `http://127.0.0.1:${server.port}/end`],
    );
    const response = await open().fetch(server.url, post);
    expect(await response.json()).toEqual({ method: 'POST', accept: 'text/plain', body: 'text' });
  });

  test('three are followed and no fourth', async () => {
    const server = await redirecting((path) => [
      307,
      path === '/1' ? '/end' : `/${Number(path.slice(1)) - 1}`,
    ]);
    const at = (path: string): string => `http://127.0.0.1:${server.port}${path}`;
    expect((await open().fetch(at('/3'))).status).toBe(200);
    const { fetch, close } = open();
    await expect(fetch(at('/4'))).rejects.toMatchObject({
      code: 'mcp_server_unavailable',
      message: 'it redirects too often',
    });
    close();
  });
});

describe('TLS', () => {
  const serve = async () => {
    const server = https.createServer({ key: privateKey, cert: certificate }, (_request, response) =>
      response.end('secure'),
    );
    const names: (string | false)[] = [];
    server.on('secureConnection', (socket: tls.TLSSocket) => names.push(socket.servername ?? ''));
    return { ...(await keep(started(server))), names, server };
  };
  const trust = (): void => tls.setDefaultCACertificates([...tls.getCACertificates('bundled'), certificate]);
  afterEach(() => tls.setDefaultCACertificates(tls.getCACertificates('bundled')));
  const invalid = { code: 'mcp_server_unavailable', message: 'its certificate is not valid' };

  test('an untrusted certificate is refused', async () => {
    const server = await serve();
    await expect(open().fetch(`https://good.test:${server.port}/`)).rejects.toMatchObject(invalid);
    await closed(server);
  });

  test('a valid one matches the name, which is sent in SNI', async () => {
    trust();
    const server = await serve();
    const response = await open().fetch(`https://good.test:${server.port}/`);
    expect(await response.text()).toBe('secure');
    expect(server.names).toEqual(['good.test']);
  });

  test('one for another name is refused', async () => {
    trust();
    const server = await serve();
    await expect(open().fetch(`https://other.test:${server.port}/`)).rejects.toMatchObject(invalid);
    await expect(open().fetch(`https://127.0.0.1:${server.port}/`)).rejects.toMatchObject(invalid);
  });

  test('a redirect from https to http is refused', async () => {
    trust();
    const server = await serve();
    server.server.removeAllListeners('request').on('request', (_request, response) => {
      response.writeHead(307, { location: 'http://good.test/' }).end();
    });
    await expect(open().fetch(`https://good.test:${server.port}/`)).rejects.toMatchObject({
      message: 'it redirects from https to http',
    });
  });

  test('a server without TLS is reported as such', async () => {
    const server = await keep(listen((_request, response) => response.end('plain')));
    await expect(open().fetch(`https://good.test:${server.port}/`)).rejects.toMatchObject({
      message: 'it does not speak TLS',
    });
  });
});

describe('answers', () => {
  test('an endless body is aborted at the limit, and its connection closed', async () => {
    const server = await keep(
      listen((_request, response) => {
        const more = (): void => {
          while (response.write(Buffer.alloc(65_536)));
        };
        response.on('drain', more);
        more();
      }),
    );
    const { fetch, fault } = open(allowed, 1_000_000);
    const response = await fetch(server.url);
    await expect(response.arrayBuffer()).rejects.toMatchObject({ code: 'resource_limit_exceeded' });
    expect(fault()?.code).toBe('resource_limit_exceeded');
    await closed(server);
  });

  test('all bodies share one budget', async () => {
    const server = await keep(listen((_request, response) => response.end('x'.repeat(600))));
    const { fetch } = open(allowed, 1000);
    expect(await (await fetch(server.url)).text()).toHaveLength(600);
    const second = await fetch(server.url);
    await expect(second.text()).rejects.toMatchObject({ code: 'resource_limit_exceeded' });
  });

  test('an unread body is not buffered', async () => {
    let sentBytes = 0;
    const server = await keep(
      listen((_request, response) => {
        const more = (): void => {
          do sentBytes += 65_536;
          while (response.write(Buffer.alloc(65_536)));
        };
        response.on('drain', more);
        more();
      }),
    );
    const response = await open(allowed, 1_000_000_000).fetch(server.url);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(sentBytes).toBeLessThan(20_000_000);
    await response.body?.cancel();
    await closed(server);
  });

  test('a compressed one is refused', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    const server = await keep(
      listen((_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)),
    );
    await expect(open().fetch(server.url)).rejects.toMatchObject({ message: 'its answer is compressed' });
    await closed(server);
  });

  test('an interrupted one is an error', async () => {
    const server = await keep(
      listen((_request, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('half');
        setTimeout(() => response.destroy(), 20);
      }),
    );
    const response = await open().fetch(server.url);
    await expect(response.text()).rejects.toMatchObject({
      code: 'mcp_server_unavailable',
      message: 'it closed the connection',
    });
  });

  test.each([
    ['what is no HTTP', 'SSH-2.0-OpenSSH_9.9\r\n', 'it does not speak HTTP'],
    [
      'headers without end',
      `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}`,
      'its response headers are too large',
    ],
    [
      'an upgrade',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n',
      'it closed the connection',
    ],
    ['an odd status', 'HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n', 'it answered with HTTP 999'],
  ])('%s is refused', async (_what, bytes, message) => {
    const server = await keep(listenRaw((socket) => void socket.once('data', () => socket.write(bytes))));
    await expect(open().fetch(server.url)).rejects.toMatchObject({ code: 'mcp_server_unavailable', message });
    await closed(server);
  });

  test('one without a body is valid', async () => {
    const server = await keep(listen((_request, response) => response.writeHead(204).end()));
    const response = await open().fetch(server.url);
    expect([response.status, response.body]).toEqual([204, null]);
  });
});

test('an aborted request closes its connection, before and after its headers came', async () => {
  const server = await keep(
    listen((request, response) => (request.url === '/a' ? undefined : response.write('x'))),
  );
  const waiting = new AbortController();
  const pending = open().fetch(`http://127.0.0.1:${server.port}/a`, { signal: waiting.signal });
  await vi.waitFor(() => expect(server.openCount()).toBe(1), { timeout: 50_000 });
  waiting.abort();
  await expect(pending).rejects.toThrow();
  await closed(server);
  const reading = new AbortController();
  const { fetch, fault } = open();
  const response = await fetch(server.url, { signal: reading.signal });
  reading.abort();
  await expect(response.text()).rejects.toThrow();
  await closed(server);
  expect(fault()?.code).not.toBe('invalid_request');
});

test('close ends open requests and allows no new ones', async () => {
  const server = await keep(listen((_request, response) => response.write('x')));
  const { fetch, close } = open();
  const response = await fetch(server.url);
  close();
  await expect(response.text()).rejects.toThrow();
  await expect(fetch(server.url)).rejects.toThrow();
  await closed(server);
  expect(server.requests).toHaveLength(1);
});

test('no connection within five seconds is reported', { timeout: 15_000 }, async () => {
  // It listens and says nothing: TLS never begins.
  const server = await keep(listenRaw((socket) => void socket.resume()));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const pending = open()
      .fetch(`https://good.test:${server.port}/`)
      .catch((error: unknown) => error);
    await vi.waitFor(() => expect(server.openCount()).toBe(1), { timeout: 50_000 });
    await vi.advanceTimersByTimeAsync(5000);
    expect(await pending).toMatchObject({ message: 'no connection to it within 5 s' });
  } finally {
    vi.useRealTimers();
  }
  await closed(server);
});
