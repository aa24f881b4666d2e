/** The bucket with the real S3 client against the S3 endpoint of the embedded cloud, and against one that breaks. */
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterEach, expect, test } from 'vitest';
import { start } from '../../../local/s3/start.ts';
import { makeWorkspaceBucket } from './workspace-bucket.ts';

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const Bucket = 'workspaces';

const clientOf = (
  endpoint: string,
  credentials = { accessKeyId: 'any', secretAccessKey: 'any' },
  maxAttempts = 1,
) => {
  const client = new S3Client({
    endpoint,
    region: 'us-east-1',
    credentials,
    maxAttempts,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  opened.push(() => client.destroy());
  return client;
};

const open = async ({ maxAttempts = 1 } = {}) => {
  const s3 = await start({ folder: await mkdtemp(join(tmpdir(), 'sallyport-bucket-')), buckets: [Bucket] });
  opened.push(s3.stop);
  const client = clientOf(s3.url, s3.credentials, maxAttempts);
  const calls: string[] = [];
  client.middlewareStack.add(
    (next, context) => (args) => {
      calls.push(String(context['commandName']));
      return next(args);
    },
    { step: 'initialize' },
  );
  const keys = async () =>
    ((await client.send(new ListObjectsV2Command({ Bucket }))).Contents ?? []).map(({ Key = '' }) => Key);
  return { client, calls, keys, bucket: makeWorkspaceBucket(client, Bucket) };
};

/** An S3 that answers as it is told. */
const openFaulty = async (answer: RequestListener) => {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  return makeWorkspaceBucket(clientOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), Bucket);
};

const collect = async (chunks: AsyncIterable<Uint8Array>) =>
  Buffer.concat(await Array.fromAsync(chunks)).toString();

test('an object is read whole, within its limit, or is absent', async () => {
  const { bucket } = await open();
  await bucket.write('k', Buffer.from('hello'));
  expect(Buffer.from((await bucket.read('k', 5)) ?? []).toString()).toBe('hello');
  expect(await bucket.read('other', 5)).toBeUndefined();
  await expect(bucket.read('k', 4)).rejects.toThrow('k has more than 4 bytes');
});

test.each([
  ['inside', { offset: 1, length: 3 }, 'ell'],
  ['over the end', { offset: 3, length: 9 }, 'lo'],
  ['behind the end', { offset: 9, length: 3 }, ''],
  ['of nothing', { offset: 1, length: 0 }, ''],
])('a range %s returns the existing bytes', async (_title, range, content) => {
  const { bucket } = await open();
  await bucket.write('k', Buffer.from('hello'));
  expect(await collect(bucket.readRange('k', range))).toBe(content);
  expect(await collect(bucket.readRange('missing', range))).toBe('');
});

test('an interrupted range continues where it broke', async () => {
  const asked: (string | undefined)[] = [];
  const bucket = await openFaulty((request, response) => {
    asked.push(request.headers.range);
    const [, from = '0'] = /bytes=(\d+)/.exec(request.headers.range ?? '') ?? [];
    const rest = 'abcdef'.slice(Number(from));
    response.writeHead(206, { 'content-length': rest.length });
    if (rest.length <= 2) response.end(rest);
    else response.write(rest.slice(0, 2), () => setTimeout(() => response.destroy(), 20));
  });
  expect(await collect(bucket.readRange('k', { offset: 0, length: 6 }))).toBe('abcdef');
  expect(asked).toEqual(['bytes=0-5', 'bytes=2-5', 'bytes=4-5']);
});

test('a range that is interrupted without progress fails after four attempts', async () => {
  let tries = 0;
  const bucket = await openFaulty((_request, response) => {
    tries += 1;
    response.writeHead(206, { 'content-length': 6 }).flushHeaders();
    setTimeout(() => response.destroy(), 5);
  });
  await expect(collect(bucket.readRange('k', { offset: 0, length: 6 }))).rejects.toThrow();
  expect(tries).toBe(4);
});

test('an object that may not be read is a failure, not a missing one', async () => {
  const bucket = await openFaulty((_request, response) => {
    response
      .writeHead(403, { 'content-type': 'application/xml' })
      .end('<Error><Code>AccessDenied</Code></Error>');
  });
  await expect(bucket.read('k', 5)).rejects.toMatchObject({ name: 'AccessDenied' });
  await expect(collect(bucket.readRange('k', { offset: 0, length: 6 }))).rejects.toMatchObject({
    name: 'AccessDenied',
  });
});

test('all objects below a prefix are deleted, in pages of a thousand, and no others', async () => {
  const { bucket, client, calls, keys } = await open();
  const put = (Key: string) => client.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }));
  for (let page = 0; page < 21; page += 1)
    await Promise.all(Array.from({ length: 50 }, (_, index) => put(`workspaces/a/${page}-${index}`)));
  await put('workspaces/ab/kept');
  calls.length = 0;
  await bucket.removeAll('workspaces/a/');
  expect(calls).toEqual([
    'ListObjectsV2Command',
    'DeleteObjectsCommand',
    'ListObjectsV2Command',
    'DeleteObjectsCommand',
  ]);
  expect(await keys()).toEqual(['workspaces/ab/kept']);
  calls.length = 0;
  await bucket.removeAll('workspaces/nobody/');
  await bucket.remove([]);
  expect(calls).toEqual(['ListObjectsV2Command']);
});

test('an object that could not be deleted is a failure', async () => {
  const bucket = await openFaulty((_request, response) => {
    response
      .writeHead(200, { 'content-type': 'application/xml' })
      .end('<DeleteResult><Error><Key>k</Key><Code>InternalError</Code></Error></DeleteResult>');
  });
  await expect(bucket.remove(['k'])).rejects.toThrow('1 objects stayed: InternalError');
});

const megabyte = 1024 * 1024;

test.each([
  ['nothing', 0, []],
  ['a little in one write', megabyte, ['PutObjectCommand']],
  [
    'a whole part',
    8 * megabyte,
    ['CreateMultipartUploadCommand', 'UploadPartCommand', 'CompleteMultipartUploadCommand'],
  ],
  [
    'more in parts',
    17 * megabyte,
    [
      'CreateMultipartUploadCommand',
      'UploadPartCommand',
      'UploadPartCommand',
      'UploadPartCommand',
      'CompleteMultipartUploadCommand',
    ],
  ],
])('an upload writes %s', async (_title, size, wanted) => {
  const { bucket, calls } = await open();
  const upload = bucket.upload('k');
  const whole = Buffer.alloc(size, 'abcdefg');
  const scratch = Buffer.alloc(100_001);
  for (let at = 0; at < size; at += scratch.length) {
    const piece = scratch.subarray(0, Math.min(scratch.length, size - at));
    whole.copy(piece, 0, at);
    await upload.append(piece);
    piece.fill(0);
  }
  await upload.finish();
  expect(calls.toSorted()).toEqual(wanted.toSorted());
  const got = await bucket.read('k', 20 * megabyte);
  expect(Buffer.compare(Buffer.from(got ?? []), whole)).toBe(0);
});

/** A client that is answered after it has given up, once: its repeated request completes what is complete. */
const loseFirstAnswer = (client: S3Client, command: string) => {
  let isLost = false;
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const answer = await next(args);
      if (context['commandName'] !== command || isLost) return answer;
      isLost = true;
      throw Object.assign(new Error('no byte came'), { name: 'TimeoutError' });
    },
    { step: 'finalizeRequest', priority: 'low' },
  );
};

test('an upload whose completion was answered to nobody is complete', async () => {
  const { bucket, client } = await open({ maxAttempts: 2 });
  loseFirstAnswer(client, 'CompleteMultipartUploadCommand');
  const upload = bucket.upload('k');
  await upload.append(Buffer.alloc(9 * megabyte, 'a'));
  await upload.finish();
  expect((await bucket.read('k', 20 * megabyte))?.length).toBe(9 * megabyte);
});

test('an upload that was aborted meanwhile is not complete because an object of its key is there', async () => {
  const { bucket, client } = await open();
  await bucket.write('k', Buffer.alloc(9 * megabyte, 'b'));
  const upload = bucket.upload('k');
  await upload.append(Buffer.alloc(9 * megabyte, 'a'));
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
  for (const { UploadId } of Uploads)
    await client.send(new AbortMultipartUploadCommand({ Bucket, Key: 'k', UploadId }));
  await expect(upload.finish()).rejects.toMatchObject({ name: 'NoSuchUpload' });
});

test('an aborted upload leaves no object, at any point', async () => {
  const { bucket, client, keys } = await open();
  for (const size of [0, 1, 17 * megabyte]) {
    const upload = bucket.upload('k');
    await upload.append(Buffer.alloc(size));
    await upload.abort();
  }
  const finished = bucket.upload('other');
  await finished.append(Buffer.alloc(9 * megabyte));
  await finished.finish();
  await finished.abort();
  expect(await keys()).toEqual(['other']);
  expect((await client.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads).toBeUndefined();
});

test('a failing part fails the upload, and the earlier parts are deleted', async () => {
  const asked: string[] = [];
  const bucket = await openFaulty(async (request, response) => {
    request.resume();
    await once(request, 'end');
    const { method, url = '' } = request;
    const what = `${method} ${url.split('?')[1]?.replace(/^x-id=\w+$|&x-id=\w+/, '')}`;
    asked.push(what);
    if (what.startsWith('POST uploads')) {
      response.end('<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>');
    } else if (method === 'DELETE') response.writeHead(204).end();
    else response.writeHead(500).end();
  });
  const upload = bucket.upload('k');
  await upload.append(Buffer.alloc(9 * megabyte));
  await expect(upload.finish()).rejects.toThrow();
  await upload.abort();
  expect([asked[0], asked.at(-1), asked.length]).toEqual(['POST uploads=', 'DELETE uploadId=u', 4]);
});
