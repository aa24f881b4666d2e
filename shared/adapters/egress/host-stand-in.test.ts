import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer, request as tlsRequest } from 'node:https';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import tls from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import { AppError } from '#shared/errors.ts';
import type { EgressConnection, InjectedExchange } from '#shared/ports/egress.ts';
import { makeHostStandIn } from './host-stand-in.ts';
import { makeSandboxAuthority, openHostCertificates } from './sandbox-authority.ts';

const secret = 'a secret of at least thirty-two characters';
const sandbox = { workspaceId: 'w' as WorkspaceId, generation: 1 };
const authority = makeSandboxAuthority(secret, Date.now).certificate(sandbox.workspaceId, 1);
const hostStandIn = makeHostStandIn({ secret: async () => secret, now: Date.now });

/** The world outside has an authority of its own. */
const world = { workspaceId: 'the world' as WorkspaceId, generation: 1 };
const trusted = tls.getCACertificates('default');
const certificateOf = openHostCertificates('another secret', world, Date.now);
let good: Server;
let wrongName: Server;
let plain: Server;

const echo: RequestListener = (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { authorization, host, 'x-own': own } = request.headers;
    const said = { url: request.url, authorization, host, own, body: Buffer.concat(chunks).toString() };
    response.writeHead(200, { 'x-one': 'a', 'set-cookie': ['a=1', 'b=2'] }).end(JSON.stringify(said));
  });
};
const listening = async <S extends Server>(server: S): Promise<S> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
};
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

beforeAll(async () => {
  tls.setDefaultCACertificates([
    ...trusted,
    makeSandboxAuthority('another secret', Date.now).certificate(world.workspaceId, 1),
  ]);
  good = await listening(createTlsServer(certificateOf('api.example.org'), echo));
  wrongName = await listening(createTlsServer(certificateOf('other.example.org'), echo));
  plain = await listening(
    createServer(echo).on('upgrade', ({ url, headers }, socket: Duplex) => {
      if (headers.upgrade !== 'websocket' || url === '/refused') {
        socket.end('HTTP/1.1 401 Unauthorized\r\nx-reason: old\r\ncontent-length: 10\r\n\r\nlog in now');
        return;
      }
      socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n');
      socket.pipe(socket);
    }),
  );
});
afterAll(() => {
  tls.setDefaultCACertificates(trusted);
  for (const server of [good, wrongName, plain]) server.close();
});

const connectionOf = (stream: Duplex): EgressConnection => ({
  incoming: stream,
  write: async (bytes) => void stream.write(bytes),
  end: () => void stream.end(),
  destroy: () => void stream.destroy(),
});

type Options = Partial<Pick<InjectedExchange, 'headers' | 'connect' | 'target'>>;

/** The program's end of a connection that the stand-in answers. */
const open = (server: Server, options: Options = {}) => {
  const [program, inside] = duplexPair();
  const sockets: Socket[] = [];
  const answered = hostStandIn.answer({
    target: { host: 'API.example.org', port: 443 },
    sandbox,
    program: connectionOf(inside),
    headers: async () => ({ Authorization: 'Bearer hidden' }),
    connect: async () => {
      const socket = connect(portOf(server), '127.0.0.1');
      sockets.push(socket);
      return connectionOf(socket);
    },
    ...options,
  });
  return { program, answered, sockets };
};

type Asked = { readonly path?: string; readonly headers?: Record<string, string>; readonly body?: string };

const askOver = async (program: Duplex, { path = '/a?b', headers = {}, body }: Asked = {}) => {
  const secure = tls.connect({ socket: program, servername: 'api.example.org', ca: authority });
  const request = tlsRequest({
    ...{ createConnection: () => secure, host: 'api.example.org', path },
    method: body === undefined ? 'GET' : 'POST',
    headers: { host: 'api.example.org', ...headers, connection: 'close' },
  });
  request.end(body);
  const [response] = await once(request, 'response');
  const text = Buffer.concat(await response.toArray()).toString();
  return {
    status: response.statusCode,
    headers: response.headers,
    text,
    certificate: secure.getPeerX509Certificate(),
  };
};

test('a request over TLS gets the header, and all else of it and of its answer passes (IJ2)', async () => {
  const { program, answered } = open(good);
  const answer = await askOver(program, {
    headers: { authorization: 'mine', 'x-own': 'kept', 'proxy-authorization': 'x' },
    body: 'words',
  });
  expect(JSON.parse(answer.text)).toEqual({
    url: '/a?b',
    authorization: 'Bearer hidden',
    host: 'api.example.org',
    own: 'kept',
    body: 'words',
  });
  expect([answer.status, answer.headers['x-one'], answer.headers['set-cookie']]).toEqual([
    200,
    'a',
    ['a=1', 'b=2'],
  ]);
  expect(answer.certificate?.subjectAltName).toBe('DNS:api.example.org');
  await answered;
});

test('a certificate that names another host, or that nobody vouches for, is refused (IJ3)', async () => {
  const other = await askOver(open(wrongName).program);
  expect([other.status, other.text]).toEqual([
    502,
    expect.stringContaining('certificate of api.example.org'),
  ]);
  tls.setDefaultCACertificates(trusted);
  const unknown = await askOver(open(good).program);
  expect([unknown.status, unknown.text]).toEqual([
    502,
    expect.stringContaining('certificate of api.example.org'),
  ]);
  tls.setDefaultCACertificates([
    ...trusted,
    makeSandboxAuthority('another secret', Date.now).certificate(world.workspaceId, 1),
  ]);
});

test('a request that names another host than its connection gets nothing (IJ2)', async () => {
  const { program, sockets } = open(good);
  const answer = await askOver(program, { headers: { host: 'other.example.org' } });
  expect([answer.status, sockets.length]).toEqual([421, 0]);
});

test('a refusal says its reason, and an unknown error none', async () => {
  const missing = open(good, {
    headers: () => Promise.reject(new AppError('not_found', 'the project has no secret KEY')),
  });
  expect(await askOver(missing.program)).toMatchObject({
    status: 502,
    text: 'the project has no secret KEY\n',
  });
  const broken = open(good, { connect: () => Promise.reject(new Error('Bearer hidden')) });
  expect((await askOver(broken.program)).text).toBe('the connection to api.example.org was interrupted\n');
});

const sayPlain = async (text: string, options: Options = {}): Promise<string> => {
  const { program } = open(plain, { target: { host: 'api.example.org', port: 8080 }, ...options });
  program.write(text);
  return Buffer.concat(await program.toArray()).toString();
};

test('a request in plain HTTP gets the header', async () => {
  const said = await sayPlain('GET /x HTTP/1.1\r\nHost: api.example.org:8080\r\nConnection: close\r\n\r\n');
  expect(said).toContain('"authorization":"Bearer hidden"');
});

test.each([
  [
    'a second request hidden behind a length',
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
  ],
  ['no HTTP', 'SSH-2.0-client\r\n'],
  ['a tunnel in the tunnel', 'CONNECT other.example.org:443 HTTP/1.1\r\nHost: a\r\n\r\n'],
])('%s is refused', async (_, text) => {
  expect(await sayPlain(text)).toMatch(/^HTTP\/1\.1 400 /);
});

test.each(['GET', 'DELETE', 'POST'])('a request in the body of a %s stays a body (IJ2)', async (method) => {
  const hidden = 'GET /two HTTP/1.1\r\nHost: other.example.org\r\n\r\n';
  const said = await sayPlain(
    `${method} /one HTTP/1.1\r\nHost: api.example.org:8080\r\nConnection: close, Content-Length\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
  );
  expect(said).toMatch(/^HTTP\/1\.1 200 /);
  expect(said).toContain(JSON.stringify({ body: hidden }).slice(1, -1));
});

test('an upgraded connection passes bytes both ways', async () => {
  const { program } = open(plain, { target: { host: 'api.example.org', port: 8080 } });
  program.write(
    'GET / HTTP/1.1\r\nHost: api.example.org:8080\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
  );
  const heard: Buffer[] = [];
  const isEchoed = Promise.withResolvers<void>();
  program.on('data', (chunk: Buffer) => {
    heard.push(chunk);
    const text = Buffer.concat(heard).toString();
    if (text.endsWith('\r\n\r\n')) program.write('ping');
    if (text.endsWith('ping')) isEchoed.resolve();
  });
  await isEchoed.promise;
  expect(Buffer.concat(heard).toString()).toMatch(/^HTTP\/1\.1 101 .*ping$/s);
  program.destroy();
});

test('what a host answers instead of an upgrade passes as it is', async () => {
  const said = await sayPlain(
    'GET /refused HTTP/1.1\r\nHost: api.example.org:8080\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
  );
  expect(said).toMatch(/^HTTP\/1\.1 401 .*x-reason: old\r\n.*log in now$/s);
});

test('a request that offers another protocol is a request, and is answered with what its host says', async () => {
  const said = await sayPlain(
    [
      'POST /x HTTP/1.1\r\nHost: api.example.org:8080\r\nConnection: close, Upgrade, HTTP2-Settings\r\n',
      'Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\nContent-Length: 5\r\n\r\nwords',
    ].join(''),
  );
  expect(said).toMatch(/^HTTP\/1\.1 200 .*"authorization":"Bearer hidden".*"body":"words"/s);
});

test('a WebSocket is asked for by GET alone', async () => {
  const said = await sayPlain(
    'POST /x HTTP/1.1\r\nHost: api.example.org:8080\r\nConnection: close, upgrade\r\nUpgrade: websocket\r\nContent-Length: 5\r\n\r\nwords',
  );
  expect(said).toMatch(/^HTTP\/1\.1 200 .*"body":"words"/s);
});

test('a host sees no secret in a request that it would send back by itself', async () => {
  const { program, sockets } = open(plain, { target: { host: 'api.example.org', port: 8080 } });
  program.write('TRACE / HTTP/1.1\r\nHost: api.example.org:8080\r\nConnection: close\r\n\r\n');
  expect(Buffer.concat(await program.toArray()).toString()).toMatch(/^HTTP\/1\.1 403 /);
  expect(sockets).toEqual([]);
});

test('a request of HTTP/1.0 that names no host is given the name and port of its connection', async () => {
  expect(await sayPlain('GET /x HTTP/1.0\r\n\r\n')).toContain('"host":"api.example.org:8080"');
});

const noteConnections = () => {
  let [opened, most] = [0, 0];
  return {
    most: () => most,
    connect: async (): Promise<EgressConnection> => {
      const socket = connect(portOf(plain), '127.0.0.1');
      opened += 1;
      most = Math.max(most, opened);
      socket.once('close', () => {
        opened -= 1;
      });
      return connectionOf(socket);
    },
  };
};
const requestsAhead = (count: number): string =>
  Array.from(
    { length: count },
    (_, at) =>
      `GET /${at} HTTP/1.1\r\nHost: api.example.org:8080\r\n${at + 1 === count ? 'Connection: close\r\n' : ''}\r\n`,
  ).join('');

test('requests that are sent without waiting are answered in their order, by one connection after the other', async () => {
  const connections = noteConnections();
  const said = await sayPlain(requestsAhead(50), { connect: connections.connect });
  const answered = [...said.matchAll(/"url":"\/(\d+)"/g)].map(([, at]) => Number(at));
  expect(answered).toEqual(Array.from({ length: 50 }, (_, at) => at));
  expect(connections.most()).toBeLessThanOrEqual(2);
});

test('a connection that sends a thousand requests without waiting is broken off', async () => {
  const connections = noteConnections();
  const { program, answered } = open(plain, {
    target: { host: 'api.example.org', port: 8080 },
    connect: connections.connect,
  });
  program.write(requestsAhead(1000));
  program.resume();
  await answered;
  expect(connections.most()).toBeLessThanOrEqual(2);
});
