/**
 * Every endpoint inside the embedded cloud against everything but a caller of this start: refused from the head alone,
 * with a word for the SDK, and without a header that would let a page read it.
 */
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { start as startApiGateway } from './api-gateway/start.ts';
import { start as startDynamoDb } from './dynamodb/start.ts';
import { platformTable } from './dynamodb/table.ts';
import { start as startEcs } from './ecs/start.ts';
import { type Credentials, makeKeys } from './endpoint/account.ts';
import { listenSigned } from './endpoint/listen.ts';
import { sha256, sign } from './endpoint/signature.ts';
import { start as startLambda } from './lambda/start.ts';
import { startRecorder } from './recorder/start.ts';
import { start as startS3 } from './s3/start.ts';
import { start as startScheduler } from './scheduler/start.ts';
import { start as startSecretsManager } from './secrets/start.ts';

type Endpoint = { readonly url: string; readonly service: string; readonly target: string };

const keys = makeKeys();
const credentials = keys.issue('test');
const opened: (() => Promise<void>)[] = [];
const endpoints = new Map<string, Endpoint>();
const names = [
  ...['dynamodb', 'another dynamodb', 'lambda', 's3', 'secretsmanager'],
  ...['scheduler', 'ecs', 'connections', 'recorder'],
];

const begun = <S extends { readonly stop: () => Promise<void> }>(service: S): S => {
  opened.push(service.stop);
  return service;
};
const makeFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'sallyport-refusals-'));

beforeAll(async () => {
  const table = { table: platformTable('sallyport'), expiryAttribute: 'ttl', keys };
  const dynamodb = begun(await startDynamoDb({ folder: await makeFolder(), ...table }));
  const borrowed = begun(await startDynamoDb({ folder: '/nowhere', other: dynamodb, ...table }));
  const functions = begun(await startLambda({ mode: { kind: 'shared' }, log: () => undefined, keys }));
  const s3 = begun(await startS3({ folder: await makeFolder(), keys }));
  const secrets = begun(await startSecretsManager({ folder: await makeFolder(), keys }));
  const scheduler = begun(await startScheduler({ folder: await makeFolder(), functions, keys }));
  const ecs = begun(await startEcs({ home: await makeFolder(), onTaskEvent: () => undefined, keys }));
  const gateway = begun(
    await startApiGateway({
      ...{ functions, keys, restRoutes: [], webRoot: '/nowhere' },
      webSocket: { functionName: 'none' },
    }),
  );
  const recorder = begun(await startRecorder(s3.url, () => undefined, keys));
  const connections = { url: new URL(gateway.url).origin, service: 'execute-api' };
  const all: readonly Endpoint[] = [
    { url: dynamodb.url, service: 'dynamodb', target: '/' },
    { url: borrowed.url, service: 'dynamodb', target: '/' },
    { url: functions.url, service: 'lambda', target: '/2015-03-31/functions/x/invocations' },
    { url: s3.url, service: 's3', target: '/no-bucket/x' },
    { url: secrets.url, service: 'secretsmanager', target: '/' },
    { url: scheduler.url, service: 'scheduler', target: '/schedules/x' },
    { url: ecs.url, service: 'ecs', target: '/' },
    { ...connections, target: '/ws/@connections/x' },
    { url: recorder.url, service: 's3', target: '/no-bucket/x' },
  ];
  for (const [index, name] of names.entries()) endpoints.set(name, all[index] as Endpoint);
});
afterAll(async () => {
  for (const stop of opened.splice(0).reverse()) await stop();
});

type Head = {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
};

type SignOptions = { readonly credentials?: Credentials; readonly now?: number; readonly body?: string };

const signed = (endpoint: Endpoint, options: SignOptions = {}): Head => {
  const { service, target } = endpoint;
  const headers = {
    host: new URL(endpoint.url).host,
    'x-amz-content-sha256': sha256(options.body ?? ''),
    'x-amz-target': 'None.Known',
  };
  const sent = sign(
    { method: 'POST', target, headers, service, region: 'us-east-1' },
    options.credentials ?? credentials,
    options.now,
  );
  return { method: 'POST', target, headers: sent as Head['headers'] };
};

/** Sends a head and what is given of a body, and reads until the answer's head is there. */
const exchange = async (url: string, { method, target, headers }: Head, body = ''): Promise<string> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.write(`${[`${method} ${target} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n${body}`);
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1');
    if (answer.includes('\r\n\r\n')) socket.end();
  });
  await once(socket, 'close');
  return answer;
};

/** A body of a gigabyte is announced and never comes: only an answer to the head alone is an answer. */
const announced = { 'content-length': String(1024 ** 3) };

const broken: Readonly<Record<string, (endpoint: Endpoint) => Head>> = {
  'nothing signed': (endpoint) => ({
    ...signed(endpoint),
    headers: { host: new URL(endpoint.url).host },
  }),
  'a page of another origin': (endpoint) => withHeaders(endpoint, { origin: 'http://page.example' }),
  'a page of our own origin': (endpoint) => withHeaders(endpoint, { origin: endpoint.url }),
  'a page without an origin': (endpoint) => withHeaders(endpoint, { origin: 'null' }),
  'a browser that says no origin': (endpoint) => withHeaders(endpoint, { 'sec-fetch-site': 'none' }),
  'a preflight': (endpoint) => ({
    ...withHeaders(endpoint, {
      origin: 'null',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,x-amz-target',
    }),
    method: 'OPTIONS',
  }),
  'a handshake of a socket': (endpoint) =>
    withHeaders(endpoint, { origin: 'null', connection: 'upgrade', upgrade: 'websocket' }),
  'a foreign name': (endpoint) => withHeaders(endpoint, { host: 'evil.example' }),
  'a name of this machine that is not its own': (endpoint) =>
    withHeaders(endpoint, { host: new URL(endpoint.url).host.replace('127.0.0.1', 'localhost') }),
  'a key of another start': (endpoint) => signed(endpoint, { credentials: makeKeys().issue('test') }),
  'a known key under a wrong secret': (endpoint) =>
    signed(endpoint, { credentials: { ...credentials, secretAccessKey: 'x' } }),
  'a signature of zeros': (endpoint) => {
    const { authorization = '' } = signed(endpoint).headers;
    return withHeaders(endpoint, {
      authorization: authorization.replace(/Signature=.*/, `Signature=${'0'.repeat(64)}`),
    });
  },
  'a signature in the query': (endpoint) => ({
    method: 'POST',
    target: `${endpoint.target}?X-Amz-Signature=1&X-Amz-Credential=${credentials.accessKeyId}`,
    headers: { host: new URL(endpoint.url).host },
  }),
  'a signature of six minutes ago': (endpoint) => signed(endpoint, { now: Date.now() - 6 * 60_000 }),
  'a signature of six minutes hence': (endpoint) => signed(endpoint, { now: Date.now() + 6 * 60_000 }),
  'another path than the signed one': (endpoint) => ({ ...signed(endpoint), target: `${endpoint.target}y` }),
  'another method than the signed one': (endpoint) => ({ ...signed(endpoint), method: 'PUT' }),
  'another operation than the signed one': (endpoint) =>
    withHeaders(endpoint, { 'x-amz-target': 'DynamoDB_20120810.ListTables' }),
  'a header that counts and is not signed': (endpoint) =>
    withHeaders(endpoint, { 'x-amz-invocation-type': 'Event' }),
};

const withHeaders = (endpoint: Endpoint, more: Head['headers']): Head => {
  const head = signed(endpoint);
  return { ...head, headers: { ...head.headers, ...more } };
};

const endpointNamed = (name: string): Endpoint => endpoints.get(name) as Endpoint;

describe.each(names)('%s', (name) => {
  test.each(Object.keys(broken))('refuses %s before the body is read', async (kind) => {
    const endpoint = endpointNamed(name);
    const head = broken[kind]?.(endpoint) as Head;
    const answer = await exchange(endpoint.url, { ...head, headers: { ...head.headers, ...announced } });
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    expect(answer).toMatch(/\r\nconnection: close\r\n/i);
    expect(answer).not.toMatch(/access-control-/i);
  });

  test('does not request the body of a refused request with Expect', async () => {
    const endpoint = endpointNamed(name);
    const headers = { ...announced, expect: '100-continue', origin: 'null' };
    expect(await exchange(endpoint.url, withHeaders(endpoint, headers))).toMatch(/^HTTP\/1\.1 403 /);
  });

  test('answers requests signed by a caller of this start', async () => {
    const endpoint = endpointNamed(name);
    const head = withHeaders(endpoint, { 'content-length': '0' });
    expect(await exchange(endpoint.url, head)).not.toMatch(/^HTTP\/1\.1 403 /);
  });
});

test('a body that differs from the signed one is refused', async () => {
  const endpoint = endpointNamed('lambda');
  const head = signed(endpoint, { body: '{"a":1}' });
  const headers = { ...head.headers, 'content-length': '7' };
  expect(await exchange(endpoint.url, { ...head, headers }, '{"a":2}')).toMatch(
    /^HTTP\/1\.1 400 [\s\S]*XAmzContentSHA256Mismatch/,
  );
  expect(await exchange(endpoint.url, { ...head, headers }, '{"a":1}')).toMatch(/^HTTP\/1\.1 404 /);
});

test('answers of one connection keep the order of its concurrent requests', async () => {
  const { url, stop } = begun(
    await listenSigned(async ({ url: path }, response) => void response.end(path), { keys }),
  );
  const { host, hostname, port } = new URL(url);
  const requestFor = (target: string): string => {
    const headers = { host, 'x-amz-content-sha256': sha256('') };
    const sent = sign({ method: 'GET', target, headers, service: 's3', region: 'us-east-1' }, credentials);
    const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}`);
    return `${[`GET ${target} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`;
  };
  const socket = connect(Number(port), hostname);
  socket.write(['/one', '/two', '/three'].map(requestFor).join(''));
  let answers = '';
  socket.on('data', (chunk: Buffer) => {
    answers += chunk.toString();
    if (answers.includes('/three')) socket.end();
  });
  await once(socket, 'close');
  expect(answers.match(/\/(one|two|three)/g)).toEqual(['/one', '/two', '/three']);
  await stop();
});
