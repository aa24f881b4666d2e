/** The link function in a Lambda environment of the embedded cloud, in front of a small sandbox of its own. */
import { EventEmitter, once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { InvokeWithResponseStreamCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { makeSandboxLink } from '#shared/adapters/aws/lambda-sandbox-link.ts';
import { makeWorkspaceArchive } from '#shared/adapters/aws/lambda-workspace-archive.ts';
import { makeWorkspaceBucket } from '#shared/adapters/aws/workspace-bucket.ts';
import { encodeArchiveFrame, readArchive } from '#shared/contracts/archive.ts';
import type { OwnerId, WorkspaceId } from '#shared/domain/ids.ts';
import { makeKeys } from '../../local/endpoint/account.ts';
import type { Endpoint } from '../../local/endpoint/listen.ts';
import { type LambdaEndpoint, start } from '../../local/lambda/start.ts';
import { start as startS3 } from '../../local/s3/start.ts';

const functionName = 'sallyport-sandbox-link';
let cloud: LambdaEndpoint;
let s3: Endpoint;
let client: LambdaClient;

beforeAll(async () => {
  const keys = makeKeys();
  s3 = await startS3({
    keys,
    folder: await mkdtemp(join(tmpdir(), 'sallyport-link-')),
    buckets: ['workspaces'],
  });
  cloud = await start({ mode: { kind: 'strict' }, log: () => undefined, keys });
  cloud.deploy([
    {
      name: functionName,
      entry: join(import.meta.dirname, 'handler.ts'),
      environment: {
        DEPLOYMENT: 'test',
        SANDBOX_ADDRESS_RANGE: '127.77.0.0/16',
        WORKSPACE_BUCKET: 'workspaces',
        AWS_ENDPOINT_URL_S3: s3.url,
        POWERTOOLS_LOG_LEVEL: 'SILENT',
      },
      timeoutMs: 10_000,
      memoryMb: 256,
    },
  ]);
  client = new LambdaClient({
    endpoint: cloud.url,
    region: 'us-east-1',
    credentials: cloud.credentials,
    maxAttempts: 1,
  });
});

afterAll(async () => {
  client.destroy();
  await cloud.stop();
  await s3.stop();
});

/** A sandbox on an address of its own, as every local task has one. */
const openSandbox = async (answer: RequestListener, host = '127.77.3.4') => {
  const server = createServer(answer);
  server.listen(0, host);
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = `http://${host}:${(server.address() as AddressInfo).port}`;
  const workspaceId = '6f1d2c3b-0000-4000-8000-000000000001' as WorkspaceId;
  return { workspaceId, generation: 1, address, flavor: 'micro' } as const;
};

const correlation = { id: () => 'c-1' };
const link = () => makeSandboxLink({ client, functionName, bearer: () => 'b1', correlation });

/** The answer of the function itself, without the adapter in between. */
const invoke = async (call: object) => {
  const { EventStream: events = [] } = await client.send(
    new InvokeWithResponseStreamCommand({
      FunctionName: functionName,
      Payload: JSON.stringify({ kind: 'fetch', method: 'GET', path: '/health', headers: {}, ...call }),
    }),
  );
  let answer = '';
  for await (const { PayloadChunk } of events) answer += Buffer.from(PayloadChunk?.Payload ?? []).toString();
  const [head = '', body = ''] = answer.split('\0'.repeat(8));
  return { ...(JSON.parse(head) as { statusCode: number; headers: Record<string, string> }), body };
};

test('a request reaches the sandbox unchanged and its answer is returned unchanged', async () => {
  const seen: unknown[] = [];
  const sandbox = await openSandbox(async (request, response) => {
    const { method, url, headers } = request;
    seen.push({ method, url, headers, body: await text(request) });
    response.writeHead(201, { 'content-type': 'text/plain', 'x-kind': 'test' }).end('grüße');
  });
  const response = await link().fetch(sandbox, {
    method: 'PUT',
    path: '/files/a%20b.txt?part=1',
    headers: { 'content-type': 'text/plain' },
    body: 'größe',
  });
  expect([response.status, response.headers.get('x-kind'), await response.text()]).toEqual([
    201,
    'test',
    'grüße',
  ]);
  expect(seen).toEqual([
    {
      method: 'PUT',
      url: '/files/a%20b.txt?part=1',
      headers: {
        host: sandbox.address.slice('http://'.length),
        'x-correlation-id': 'c-1',
        'content-type': 'text/plain',
        authorization: 'Bearer b1',
        'content-length': '7',
        connection: 'close',
      },
      body: 'größe',
    },
  ]);
});

test('bytes reach the sandbox unchanged', async () => {
  const seen: Buffer[] = [];
  const sandbox = await openSandbox(async (request, response) => {
    seen.push(await buffer(request));
    response.end(request.headers['content-length']);
  });
  const body = Uint8Array.of(0, 255, 128, 10, 13);
  const response = await link().fetch(sandbox, { method: 'PUT', path: '/files/a', body });
  expect(await response.text()).toBe('5');
  expect(seen).toEqual([Buffer.from([0, 255, 128, 10, 13])]);
});

test('compressed bytes and redirects pass unchanged; cookies and connection headers are dropped', async () => {
  const sandbox = await openSandbox((_request, response) => {
    response.writeHead(302, {
      location: 'http://169.254.169.254/latest/meta-data',
      'content-encoding': 'gzip',
      'set-cookie': 'token=stolen',
      'keep-alive': 'timeout=5',
      'x-sallyport-link': 'refused',
    });
    response.end('not really gzip');
  });
  const response = await link().fetch(sandbox, { method: 'GET', path: '/' });
  expect(response.status).toBe(302);
  expect(Object.keys(Object.fromEntries(response.headers)).sort()).toEqual([
    'content-encoding',
    'date',
    'location',
    'x-content-type-options',
  ]);
  expect(await response.text()).toBe('not really gzip');
});

test('the answer is streamed while the sandbox still writes', async () => {
  const heard = new EventEmitter();
  const sandbox = await openSandbox(async (_request, response) => {
    response.writeHead(200).flushHeaders();
    await once(heard, 'headers');
    response.write('first');
    await once(heard, 'first');
    response.end('second');
  });
  const response = await link().fetch(sandbox, { method: 'GET', path: '/' });
  heard.emit('headers');
  const parts: string[] = [];
  for await (const part of response.body ?? []) {
    parts.push(Buffer.from(part).toString());
    heard.emit(parts.at(-1) ?? '');
  }
  expect(parts).toEqual(['first', 'second']);
});

test.each([
  ['in chunks', {}],
  ['of a known length', { 'content-length': '1000' }],
])('a sandbox that dies in the middle of an answer %s aborts the body', async (_title, headers) => {
  const heard = new EventEmitter();
  const sandbox = await openSandbox(async (_request, response) => {
    response.writeHead(200, headers).write('half');
    await once(heard, 'half');
    response.destroy();
  });
  const response = await link().fetch(sandbox, { method: 'GET', path: '/' });
  const reading = async () => {
    for await (const _part of response.body ?? []) heard.emit('half');
  };
  await expect(reading()).rejects.toThrow();
});

test('a sandbox that refuses the connection is unavailable', async () => {
  const answer = await invoke({ address: 'http://127.77.3.4:9' });
  expect(answer).toMatchObject({ statusCode: 503, headers: { 'x-sallyport-link': 'unsent' } });
  expect(JSON.parse(answer.body)).toMatchObject({
    error: { code: 'sandbox_unavailable', message: 'the sandbox does not answer' },
  });
});

test('a sandbox that closes the connection before its headers cannot be reached', async () => {
  const sandbox = await openSandbox((request) => void request.socket.destroy());
  await expect(link().fetch(sandbox, { method: 'GET', path: '/' })).rejects.toMatchObject({
    code: 'sandbox_unavailable',
  });
});

const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const manifest = { id: idOf(1), sha256: 'a'.repeat(64) };
const calls = [
  { kind: 'fetch' },
  { kind: 'save', bearer: 'b', workspace: idOf(9), id: idOf(2), logsAfter: 0 },
  { kind: 'restore', bearer: 'b', workspace: idOf(9), claim: 1, manifest },
];

test.each([
  ['http://127.78.0.1:8080', 403],
  ['http://localhost:8080', 403],
  ['http://[::1]:8080', 403],
  ['http://169.254.169.254', 403],
  ['https://127.77.3.4:8080', 400],
  ['http://user:secret@127.77.3.4:8080', 400],
  ['http://127.77.3.4:8080/path', 400],
  ['127.77.3.4:8080', 400],
])('the target %s is refused with %i for every operation', async (address, status) => {
  for (const call of calls) {
    expect(await invoke({ ...call, address })).toMatchObject({
      statusCode: status,
      headers: { 'x-sallyport-link': 'refused' },
    });
  }
});

test.each([
  ['a path that does not start with /', { path: 'health' }],
  ['a path with a line break', { path: '/a\r\nx: y' }],
  ['a path with a space', { path: '/a b' }],
  ['a tunnel', { method: 'CONNECT' }],
  ['a transfer encoding', { headers: { 'Transfer-Encoding': 'chunked' } }],
  ['a host of its own', { headers: { host: 'other' } }],
  ['an upgrade', { headers: { upgrade: 'websocket' } }],
  ['a header with a line break', { headers: { 'x-a': 'b\r\nc: d' } }],
  ['a header without a name', { headers: { '': 'b' } }],
  ['a body that is no base64', { method: 'PUT', body: 'a-b_', isBase64: true }],
  ['a kind that does not exist', { kind: 'exec' }],
  ['a bearer that is none', { kind: 'restore', workspace: idOf(9), bearer: '', claim: 1, manifest }],
])('a request with %s is refused and does not reach the sandbox', async (_title, more) => {
  let calls = 0;
  const { address } = await openSandbox((_request, response) => {
    calls += 1;
    response.end();
  });
  expect(await invoke({ address, ...more })).toMatchObject({ statusCode: 400 });
  expect(calls).toBe(0);
});

test('a path that names another host is treated as a path', async () => {
  const seen: unknown[] = [];
  const sandbox = await openSandbox((request, response) => {
    seen.push(request.url);
    response.end('ok');
  });
  await (await link().fetch(sandbox, { method: 'GET', path: '//169.254.169.254/latest' })).text();
  expect(seen).toEqual(['//169.254.169.254/latest']);
});

const owner = 'owner' as OwnerId;

/** A sandbox with one file, which hears what comes back. */
const openWorkspace = async () => {
  const asked: unknown[] = [];
  const sandbox = await openSandbox(async (request, response) => {
    asked.push([request.method, request.url, request.headers.authorization]);
    if (request.url?.startsWith('/logs')) {
      response.end('{"lines":[]}');
    } else if (request.method === 'GET') {
      response.write(encodeArchiveFrame({ type: 'begin', isFull: true }));
      response.write(encodeArchiveFrame({ type: 'file', path: 'a', mode: 0o644, mtimeMs: 1, size: 3 }));
      response.write(encodeArchiveFrame({ type: 'data' }, Buffer.from('abc')));
      response.write(encodeArchiveFrame({ type: 'file-end', size: 3, isWhole: true }));
      response.end(encodeArchiveFrame({ type: 'end' }));
    } else {
      for await (const { header, payload } of readArchive(request)) asked.push([header, payload.length]);
      response.end('{"files":1,"missing":[]}');
    }
  });
  const bucket = makeWorkspaceBucket(
    new S3Client({
      endpoint: s3.url,
      region: 'us-east-1',
      credentials: s3.credentials,
    }),
    'workspaces',
  );
  const archive = makeWorkspaceArchive({
    client,
    functionName,
    bearer: () => 'b1',
    correlation,
    bucket: async () => bucket,
  });
  return { sandbox, asked, archive, bucket };
};

test('a workspace is saved, restored and deleted through the function', async () => {
  const { sandbox, asked, archive, bucket } = await openWorkspace();
  const outcome = await archive.save(sandbox, { id: idOf(1), logsAfter: 0, owner });
  if (outcome.status !== 'saved') throw new Error(JSON.stringify(outcome));
  expect(outcome).toMatchObject({ files: 1, bytes: 3, leftOut: [], logs: [] });
  const { id } = outcome.manifest;
  expect(await archive.restore(sandbox, { manifest: outcome.manifest, owner, claim: 1 })).toEqual({
    status: 'restored',
    files: 1,
    missing: [],
  });
  const sha256 = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  expect(asked).toEqual([
    ['GET', `/checkpoint?id=${id}&base=`, 'Bearer b1'],
    ['GET', '/logs?after=0', 'Bearer b1'],
    ['POST', `/restore?id=${id}&claim=1`, 'Bearer b1'],
    [{ type: 'begin', isFull: true }, 0],
    [{ type: 'file', path: 'a', mode: 0o644, mtimeMs: 1, size: 3, sha256 }, 0],
    [{ type: 'data' }, 3],
    [{ type: 'file-end', size: 3, sha256, isWhole: true }, 0],
    [{ type: 'end' }, 0],
  ]);
  const key = `workspaces/${sandbox.workspaceId}/manifests/${id}.json`;
  expect((await bucket.read(key, 100_000))?.length).toBeGreaterThan(100);
  await archive.forget(sandbox.workspaceId);
  expect(await bucket.read(key, 100_000)).toBeUndefined();
  expect(await archive.restore(sandbox, { manifest: outcome.manifest, owner, claim: 1 })).toEqual({
    status: 'refused',
    reason: 'the manifest is not the one that was saved',
  });
});

test('a save that was answered stays whole when another execution of its request ends after it', async () => {
  const { archive } = await openWorkspace();
  const events = new EventEmitter();
  const texts: string[] = [];
  let executions = 0;
  const sandbox = await openSandbox(async (request, response) => {
    if (request.method === 'POST') {
      for await (const { payload } of readArchive(request)) texts.push(payload.toString());
      return response.end('{"files":1,"missing":[]}');
    }
    if (request.url?.startsWith('/logs')) return response.end('{"lines":[]}');
    executions += 1;
    const isFirst = executions === 1;
    if (isFirst) {
      events.emit('begun');
      await once(events, 'answered');
    }
    response.write(encodeArchiveFrame({ type: 'begin', isFull: true }));
    response.write(encodeArchiveFrame({ type: 'file', path: 'a', mode: 0o644, mtimeMs: 1, size: 3 }));
    response.write(encodeArchiveFrame({ type: 'data' }, Buffer.from(isFirst ? 'old' : 'new')));
    response.write(encodeArchiveFrame({ type: 'file-end', size: 3, isWhole: true }));
    return response.end(encodeArchiveFrame({ type: 'end' }));
  });
  const save = () => archive.save(sandbox, { id: idOf(7), logsAfter: 0, owner });
  const begun = once(events, 'begun');
  const first = save().catch(() => 'broken');
  await begun;
  const answered = await save();
  if (answered.status !== 'saved') throw new Error(JSON.stringify(answered));
  events.emit('answered');
  await first;
  const restored = await archive.restore(sandbox, { manifest: answered.manifest, owner, claim: 1 });
  expect([restored.status, texts.join('')]).toEqual(['restored', 'new']);
});

test('an interrupted save or restore reports an unreachable sandbox', async () => {
  const { sandbox, archive } = await openWorkspace();
  const saved = await archive.save(sandbox, { id: idOf(3), logsAfter: 0, owner });
  if (saved.status !== 'saved') throw new Error(JSON.stringify(saved));
  const broken = await openSandbox((_request, response) => void response.destroy());
  const failure = { code: 'sandbox_unavailable', message: 'the sandbox could not be reached' };
  await expect(archive.save(broken, { id: idOf(4), logsAfter: 0, owner })).rejects.toMatchObject(failure);
  await expect(archive.restore(broken, { manifest: saved.manifest, owner, claim: 1 })).rejects.toMatchObject(
    failure,
  );
  const answer = await invoke({ ...calls[1], address: broken.address });
  expect([answer.statusCode, answer.headers['x-sallyport-link'], JSON.parse(answer.body)]).toMatchObject([
    503,
    'refused',
    { error: { code: 'sandbox_unavailable', message: 'the save of the workspace was interrupted' } },
  ]);
});
