/** The ports endpoint before a real web server: what passes, what stays outside, what a bad server can do. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { refusalHeader } from '#shared/contracts/sandbox-call.ts';
import { previewPortRule } from '#shared/domain/sandbox.ts';
import { type Listening, listenShown } from './ports-fixture.ts';
import { startTestSandbox, type TestSandbox } from './sandbox-fixture.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.stop());

const listen = async (server: Listening): Promise<number> => {
  onTestFinished(() => void server.close());
  return listenShown(server);
};
const serve = (answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<number> =>
  listen(createServer(answer));
const errorOf = ({ body }: { readonly body: Buffer }): unknown => JSON.parse(body.toString()).error;

test('method, path, query and body arrive unchanged, and so do status, headers and body of the answer', async () => {
  const port = await serve((request, response) => {
    const { method, url, headers } = request;
    response.writeHead(418, { 'x-own': 'yes', 'set-cookie': ['a=1', 'b=2'], 'keep-alive': 'timeout=9' });
    void text(request).then((body) => response.end(JSON.stringify({ method, url, headers, body })));
  });
  const answer = await sandbox.ask('PATCH', `/ports/${port}/a/../%2e/b%2Fc?x=1&y=%20#`, {
    headers: {
      cookie: 'session=secret',
      'x-named': 'no',
      connection: 'x-named',
      'x-kept': 'yes',
      te: 'trailers',
    },
    body: 'body',
  });
  expect(answer.status).toBe(418);
  expect([answer.headers['x-own'], answer.headers['set-cookie']]).toEqual(['yes', ['a=1', 'b=2']]);
  expect(answer.headers['keep-alive']).not.toBe('timeout=9');
  expect(JSON.parse(answer.body.toString())).toEqual({
    method: 'PATCH',
    url: '/a/../%2e/b%2Fc?x=1&y=%20#',
    headers: { host: `127.0.0.1:${port}`, connection: 'close', 'content-length': '4', 'x-kept': 'yes' },
    body: 'body',
  });
  const bare = await sandbox.ask('GET', `/ports/${port}?q`);
  expect(JSON.parse(bare.body.toString()).url).toBe('/?q');
});

test('both directions stream: the answer begins before the request has ended', async () => {
  const port = await serve((request, response) => {
    request.on('data', (chunk: Buffer) => response.write(`got ${chunk}`)).on('end', () => response.end());
  });
  const body = new PassThrough();
  body.write('one');
  const answer = await sandbox.open('POST', `/ports/${port}/`, { body });
  const [first] = (await once(answer, 'data')) as [Buffer];
  expect(first.toString()).toBe('got one');
  body.end('two');
  expect(await text(answer)).toBe('got two');
});

test('a caller that disconnects ends the inner request', async () => {
  const closed = Promise.withResolvers<void>();
  const port = await serve((_, response) => {
    response.once('close', () => closed.resolve()).write('for ever');
  });
  const answer = await sandbox.open('GET', `/ports/${port}/`);
  answer.destroy();
  await closed.promise;
});

test('the platform’s refusals are marked, and no answer of a program is', async () => {
  const port = await serve((_, response) =>
    response.writeHead(503, { [refusalHeader]: 'true', 'content-type': 'application/json' }).end('{}'),
  );
  const said = await sandbox.ask('GET', `/ports/${port}/`);
  expect([said.status, said.headers[refusalHeader]]).toEqual([503, undefined]);
  const refused = await sandbox.ask('GET', '/ports/8999/');
  expect([refused.status, refused.headers[refusalHeader]]).toEqual([503, 'true']);
});

test('a port without a listener is reported, and ports out of range are refused', async () => {
  const nothing = await sandbox.ask('GET', '/ports/8999/');
  expect([nothing.status, errorOf(nothing)]).toEqual([
    503,
    { code: 'sandbox_unavailable', message: 'nothing listens on port 8999' },
  ]);
  for (const port of [
    '1023',
    '8080',
    '4096',
    '19998',
    '19999',
    '65536',
    '80',
    '08000',
    '8000x',
    '',
    '99999',
  ]) {
    const refused = await sandbox.ask('GET', `/ports/${port}/`);
    expect([port, refused.status, errorOf(refused)]).toEqual([
      port,
      400,
      { code: 'invalid_request', message: `a port is ${previewPortRule}` },
    ]);
  }
});

test.each([
  ['says nothing', ''],
  ['speaks something else', 'SSH-2.0-OpenSSH\r\n'],
  ['has a status that HTTP has not', 'HTTP/1.1 000 Zero\r\ncontent-length: 0\r\n\r\n'],
  ['changes the protocol', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
])('a server that %s causes only a 503', async (_, words) => {
  const port = await listen(
    createTcpServer((socket) => socket.once('data', () => socket.end(words))) as never,
  );
  const answer = await sandbox.ask('GET', `/ports/${port}/`);
  expect([answer.status, errorOf(answer)]).toEqual([
    503,
    { code: 'sandbox_unavailable', message: `port ${port} did not answer` },
  ]);
  expect((await sandbox.ask('GET', '/health')).status).toBe(200);
});

test('a server that breaks off its answer breaks off the proxied one', async () => {
  const words = 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf';
  const port = await listen(
    createTcpServer((socket) => socket.once('data', () => socket.end(words))) as never,
  );
  await expect(sandbox.ask('GET', `/ports/${port}/`)).rejects.toThrow('aborted');
  expect((await sandbox.ask('GET', '/health')).status).toBe(200);
});
