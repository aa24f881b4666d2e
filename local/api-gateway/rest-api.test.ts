/** The REST side of the gateway and the files of the web app, over real HTTP. */
import { once } from 'node:events';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { request as sendRaw } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, expect, test, vi } from 'vitest';
import { start as startLambda } from '../lambda/start.ts';
import { type RestLimits, strictRestLimits } from './rest-integration.ts';
import { start } from './start.ts';

const opened: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const stop of opened.splice(0).reverse()) await stop();
});

/** Makes the folder of a web app, with a file that is not for browsers in it and one beside it. */
const makeWebRoot = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-web-'));
  for (const name of ['assets', 'clients']) await mkdir(join(folder, 'web', name), { recursive: true });
  const script = 'export const answer = 42;\n';
  const files = {
    'secret.js': 'secret\n',
    'web/index.html': '<!doctype html>\n<title>Fixture</title>\n',
    'web/app.js': script,
    'web/assets/app-0a1b2c3d.js': script,
    'web/clients/library-0.1.0.tgz': 'archive',
    'web/tsconfig.json': '{}\n',
  };
  for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text);
  return join(folder, 'web');
};

/** The origin with the limits of AWS, shared by the tests: it keeps nothing between requests. */
let usual: Promise<string> | undefined;

const open = (rest?: Partial<RestLimits>): Promise<string> => {
  if (rest !== undefined) return openNew(rest);
  usual ??= openNew({});
  return usual;
};

const openNew = async (rest: Partial<RestLimits>, api = 'api'): Promise<string> => {
  const lambda = await startLambda({ mode: { kind: 'shared' }, log: () => undefined });
  opened.push(lambda.stop);
  lambda.deploy([
    {
      name: 'sallyport-api',
      entry: join(import.meta.dirname, 'fixtures', api, 'handler.ts'),
      environment: {},
      timeoutMs: 20_000,
      memoryMb: 128,
    },
  ]);
  const gateway = await start({
    functions: lambda,
    restRoutes: [
      { resource: '/api/{proxy+}', functionName: 'sallyport-api' },
      { resource: '/mcp', functionName: 'sallyport-api' },
    ],
    webSocket: { functionName: 'sallyport-socket' },
    webRoot: await makeWebRoot(),
    limits: { rest },
  });
  opened.push(gateway.stop);
  return await gateway.open(0);
};

test('the health route answers by itself', async () => {
  const answer = await fetch(`${await open()}/health`);
  expect([answer.status, await answer.text()]).toEqual([200, '{"status":"ok"}']);
});

test('A11: a request becomes a proxy event of format 1.0, and its answer has status, headers and cookies', async () => {
  const url = await open();
  const answer = await fetch(`${url}/api/sessions/a%20b?tag=x&tag=y&q=%C3%A9`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'X-Thing': '1' },
    body: '{"a":1}',
  });
  expect(answer.status).toBe(201);
  expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  const event = (await answer.json()) as { headers: Record<string, string> };
  expect(event).toMatchObject({
    resource: '/api/{proxy+}',
    path: '/api/sessions/a%20b',
    httpMethod: 'POST',
    pathParameters: { proxy: 'sessions/a%20b' },
    queryStringParameters: { tag: 'y', q: 'é' },
    multiValueQueryStringParameters: { tag: ['x', 'y'], q: ['é'] },
    body: 'eyJhIjoxfQ==',
    isBase64Encoded: true,
    requestContext: {
      httpMethod: 'POST',
      path: '/live/api/sessions/a%20b',
      resourcePath: '/api/{proxy+}',
      requestId: answer.headers.get('x-amzn-requestid'),
      identity: { sourceIp: '127.0.0.1' },
    },
  });
  // As the client wrote it: a handler has to find it in any case.
  expect(event.headers['X-Thing']).toBe('1');
});

test.each([
  ['application/octet-stream', Uint8Array.of(0, 255, 1), 'AP8B'],
  ['application/json', '{"é":1}', 'eyLDqSI6MX0='],
  ['text/plain; charset=utf-8', 'hello', 'aGVsbG8='],
])('A12: a body of type %s arrives in base64', async (type, body, encoded) => {
  const answer = await fetch(`${await open()}/mcp`, {
    method: 'PUT',
    headers: { 'content-type': type },
    body,
  });
  expect(await answer.json()).toMatchObject({ resource: '/mcp', body: encoded, isBase64Encoded: true });
});

test('A11: a request without a body or query has null for both', async () => {
  const answer = await fetch(`${await open()}/mcp`);
  expect(await answer.json()).toMatchObject({
    body: null,
    isBase64Encoded: false,
    queryStringParameters: null,
    pathParameters: null,
  });
});

test('A11: a preview is told its query as it was sent, and nothing of the client in its place', async () => {
  const url = await open();
  const told = async (path: string) => {
    const answer = await fetch(url + path, { headers: { 'X-Forwarded-Query': '?evil' } });
    return ((await answer.json()) as { headers: Record<string, string> }).headers;
  };
  expect(await told('/api/sessions/a/ports/8000/x?b&a=+%20&b=')).toHaveProperty(
    'x-forwarded-query',
    '?b&a=+%20&b=',
  );
  for (const path of ['/api/sessions/a/ports/8000/x', '/api/sessions/a?b']) {
    const names = Object.keys(await told(path)).map((name) => name.toLowerCase());
    expect(names).not.toContain('x-forwarded-query');
  }
});

test.each(['http://own.example/api/a%20b/../c?q=1', 'HTTP://own.example:80/api/a%20b/../c?q=1'])(
  'a target in absolute form is answered as its path: %s',
  async (path) => {
    const { hostname, port } = new URL(await open());
    const [answer] = await once(sendRaw({ hostname, port, path }).end(), 'response');
    expect(await json(answer)).toMatchObject({
      path: '/api/a%20b/../c',
      queryStringParameters: { q: '1' },
    });
  },
);

test('A13: the answer arrives while the function still runs', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'sallyport-gateway-')), 'go');
  const answer = await fetch(`${await open()}/api/stream?file=${encodeURIComponent(file)}`);
  const heard: string[] = [];
  for await (const part of answer.body ?? []) {
    heard.push(Buffer.from(part).toString());
    await writeFile(file, '');
  }
  expect(heard).toEqual(['first ', 'second']);
});

/** As the deployment has API Gateway answer for a function that gave no answer. */
const expectFailure = async (answer: Response): Promise<void> => {
  const requestId = answer.headers.get('x-request-id') ?? 'none';
  const refusal = { code: 'internal_error', message: 'the request failed' };
  const suggestions = ['Try again in a moment.'];
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect([answer.status, await answer.json()]).toEqual([
    500,
    { error: { ...refusal, suggestions, recoveryActions: [], requestId } },
  ]);
};

test.each(['throw', 'headless'])('A13: a function that fails before its head is 500 (%s)', async (task) => {
  await expectFailure(await fetch(`${await open()}/api/${task}`));
});

test('A13: a function that fails in the middle cuts the connection', async () => {
  const answer = await fetch(`${await open()}/api/cut`);
  expect(answer.status).toBe(200);
  await expect(answer.text()).rejects.toThrow('terminated');
});

test('A16: a client that disconnects does not delay the function', async () => {
  const url = await open();
  const leaving = new AbortController();
  const answer = await fetch(`${url}/api/endless`, { signal: leaving.signal });
  leaving.abort();
  await expect(answer.text()).rejects.toThrow();
  expect((await fetch(`${url}/api/x`)).status).toBe(201);
});

test('A14: a body over the limit is refused', async () => {
  const url = await open({ requestBytesMax: 1000 });
  const answer = await fetch(`${url}/api/x`, { method: 'POST', body: 'x'.repeat(1001) });
  expect([answer.status, await answer.json()]).toEqual([
    413,
    {
      error: {
        code: 'payload_too_large',
        message: 'the request is too large',
        suggestions: ['Send less at once.'],
        recoveryActions: [],
        requestId: answer.headers.get('x-request-id'),
      },
    },
  ]);
  expect(answer.headers.get('x-request-id')).toBe(answer.headers.get('x-amzn-requestid'));
});

test('A14: a body whose event is over 6 MB is refused, although it is under 10 MB', async () => {
  const url = await open();
  const answer = await fetch(`${url}/api/x`, {
    method: 'PUT',
    headers: { 'content-type': 'application/octet-stream' },
    body: Buffer.alloc(4_750_000),
  });
  expect(answer.status).toBe(413);
});

test.each([
  ['goes quiet for too long', { idleMsMax: 400 }],
  ['takes too long in all', { totalMsMax: 400 }],
])('A15: an answer that %s is cut off', async (_title, limits) => {
  const url = await open(limits);
  await vi.waitFor(async () => expect((await fetch(`${url}/api/x`)).status).toBe(201), { timeout: 50_000 });
  const answer = await fetch(`${url}/api/stream?file=/never`);
  await expect(answer.text()).rejects.toThrow('terminated');
});

test('A15: a function without output in time is 500', async () => {
  await expectFailure(await fetch(`${await open({ idleMsMax: 1 })}/api/silent?file=/never`));
});

test('A15: the silence of an answer does not count a cold start, in which a busy machine is slower than AWS', async () => {
  const answer = await fetch(`${await openNew({ idleMsMax: 3000 }, 'cold-api')}/api/x`);
  expect(answer.status).toBe(201);
});

test('the web app is served with its content types and a strict policy', async () => {
  const url = await open();
  const page = await fetch(url);
  expect(await page.text()).toContain('<title>Fixture</title>');
  expect(Object.fromEntries(page.headers)).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types vue",
  });
  const script = await fetch(`${url}/assets/app-0a1b2c3d.js`);
  expect(Object.fromEntries(script.headers)).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
  });
  const archive = await fetch(`${url}/clients/library-0.1.0.tgz`);
  expect(archive.headers.get('content-type')).toBe('application/gzip');
  expect(archive.headers.get('content-encoding')).toBeNull();
  expect((await fetch(`${url}/app.js`)).headers.get('cache-control')).toBe('no-store');
});

/** Sends the path as it is: `fetch` resolves its `..`. */
const getRaw = (
  url: string,
  path: string,
): Promise<{ readonly status: number | undefined; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const raw = sendRaw({ hostname, port, path }, async (answer) => {
      const text = Buffer.concat(await Array.fromAsync(answer)).toString();
      resolve({ status: answer.statusCode, text });
    });
    raw.on('error', reject);
    raw.end();
  });

test.each([
  ['/api/sessions/a/files/..', '/api/sessions/a/files/..'],
  ['/api/sessions/a/files/%2e%2e/b?q=..', '/api/sessions/a/files/%2e%2e/b'],
  ['/api/../mcp', '/api/../mcp'],
  ['/api/a\\b', '/api/a\\b'],
])('A11: the path %s stays as it came', async (path, seen) => {
  const { text } = await getRaw(await open(), path);
  expect(JSON.parse(text)).toMatchObject({
    path: seen,
    pathParameters: { proxy: seen.slice('/api/'.length) },
  });
});

test.each([
  '/../secret.js',
  '/%2e%2e/secret.js',
  '/..%2fsecret.js',
  '/%00.js',
  '/%zz.js',
  '/tsconfig.json',
  '/api',
])('there is no file at %s', async (path) => {
  expect((await getRaw(await open(), path)).status).toBe(404);
});

test.each(['/api', '/api?x=1', '/mcp/more', '/mcp/', '/mcp/?x=1'])(
  '%s is no route, in the body of every error',
  async (path) => {
    const response = await fetch(`${await open()}${path}`);
    expect([response.status, await response.json()]).toEqual([
      404,
      {
        error: {
          code: 'not_found',
          message: 'there is no such route',
          suggestions: [expect.any(String)],
          recoveryActions: [],
          requestId: response.headers.get('x-request-id'),
        },
      },
    ]);
  },
);

test('a strict gateway renames WWW-Authenticate, as a REST API does', async () => {
  const namesOf = async (url: string) => [...(await fetch(`${url}/api/refuse`)).headers.keys()];
  expect(await namesOf(await open())).toContain('www-authenticate');
  const strict = await open(strictRestLimits);
  const names = await namesOf(strict);
  expect(names).toContain('x-amzn-remapped-www-authenticate');
  expect(names).not.toContain('www-authenticate');
});
