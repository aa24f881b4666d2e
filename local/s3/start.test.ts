/** The S3 endpoint, asked by the real SDK client. */
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rename, rm, symlink, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { sendSigned } from '../../tests/signed-request.ts';
import { start } from './start.ts';

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of opened.splice(0).reverse()) await stop();
});

const Bucket = 'workspaces';

const open = async (folder?: string) => {
  const home = folder ?? (await mkdtemp(join(tmpdir(), 'sallyport-s3-')));
  const endpoint = await start({ folder: home, buckets: [Bucket] });
  const client = new S3Client({
    endpoint: endpoint.url,
    region: 'us-east-1',
    credentials: endpoint.credentials,
    maxAttempts: 1,
  });
  const stop = async () => {
    client.destroy();
    await endpoint.stop();
  };
  opened.push(stop);
  return { client, url: endpoint.url, credentials: endpoint.credentials, folder: home, stop };
};

const read = async (client: S3Client, Key: string): Promise<string> => {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
  return (await Body?.transformToString()) ?? '';
};

test('an object is returned with its type, its metadata and its checksum', async () => {
  const { client } = await open();
  const put = await client.send(
    new PutObjectCommand({
      Bucket,
      Key: 'a/b.txt',
      Body: 'hello',
      ContentType: 'text/plain',
      Metadata: { owner: 'somebody' },
    }),
  );
  expect(put.ETag).toBe('"5d41402abc4b2a76b9719d911017c592"');
  const got = await client.send(new GetObjectCommand({ Bucket, Key: 'a/b.txt' }));
  expect(got).toMatchObject({
    ContentType: 'text/plain',
    Metadata: { owner: 'somebody' },
    ContentLength: 5,
    ETag: '"5d41402abc4b2a76b9719d911017c592"',
    ChecksumCRC32: 'NhCmhg==',
  });
  expect(await got.Body?.transformToString()).toBe('hello');
});

test('A25: a stream of unknown checksum is decoded from its chunks, byte for byte', async () => {
  const { client } = await open();
  const parts = Array.from({ length: 40 }, (_, index) => Buffer.alloc(50_000 + index, index));
  const whole = Buffer.concat(parts);
  await client.send(
    new PutObjectCommand({ Bucket, Key: 'stream', Body: Readable.from(parts), ContentLength: whole.length }),
  );
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: 'stream' }));
  const got = Buffer.from((await Body?.transformToByteArray()) ?? []);
  expect(createHash('sha256').update(got).digest('hex')).toBe(
    createHash('sha256').update(whole).digest('hex'),
  );
});

test('A25: a body that does not match its MD5 or checksum is refused and not stored', async () => {
  const { client } = await open();
  const put = (claim: object) =>
    client.send(new PutObjectCommand({ Bucket, Key: 'bad', Body: 'hello', ...claim }));
  await expect(put({ ContentMD5: '1B2M2Y8AsgTpgAmY7PhCfg==' })).rejects.toMatchObject({ name: 'BadDigest' });
  await expect(put({ ChecksumCRC32: 'AAAAAA==' })).rejects.toMatchObject({ name: 'BadDigest' });
  await expect(read(client, 'bad')).rejects.toMatchObject({ name: 'NoSuchKey' });
});

test('A25: a truncated chunked body is refused and not stored', async () => {
  const { client, url, credentials } = await open();
  const headers = {
    'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
    'x-amz-decoded-content-length': '10',
  };
  const { status, text } = await sendSigned(
    { url: `${url}/${Bucket}/cut`, service: 's3', method: 'PUT', headers, body: 'a\r\n01234' },
    credentials,
  );
  expect(status).toBe(400);
  expect(text).toContain('<Code>IncompleteBody</Code>');
  await expect(read(client, 'cut')).rejects.toMatchObject({ name: 'NoSuchKey' });
});

test.each([
  ['bytes=1-3', 'ell', 'bytes 1-3/5'],
  ['bytes=3-', 'lo', 'bytes 3-4/5'],
  ['bytes=-2', 'lo', 'bytes 3-4/5'],
  ['bytes=2-99', 'llo', 'bytes 2-4/5'],
])('the range %s is %s', async (Range, text, contentRange) => {
  const { client } = await open();
  await client.send(new PutObjectCommand({ Bucket, Key: 'r', Body: 'hello' }));
  const got = await client.send(new GetObjectCommand({ Bucket, Key: 'r', Range }));
  expect([await got.Body?.transformToString(), got.ContentRange]).toEqual([text, contentRange]);
});

test('a range beyond the end is refused', async () => {
  const { client } = await open();
  await client.send(new PutObjectCommand({ Bucket, Key: 'r', Body: 'hello' }));
  await expect(
    client.send(new GetObjectCommand({ Bucket, Key: 'r', Range: 'bytes=5-' })),
  ).rejects.toMatchObject({
    name: 'InvalidRange',
  });
});

test('an error names the missing key or bucket', async () => {
  const { client } = await open();
  await expect(read(client, 'nothing')).rejects.toMatchObject({ name: 'NoSuchKey' });
  await expect(client.send(new HeadObjectCommand({ Bucket, Key: 'nothing' }))).rejects.toMatchObject({
    name: 'NotFound',
  });
  await expect(client.send(new GetObjectCommand({ Bucket: 'elsewhere', Key: 'x' }))).rejects.toMatchObject({
    name: 'NoSuchBucket',
  });
  await expect(client.send(new HeadBucketCommand({ Bucket: 'elsewhere' }))).rejects.toMatchObject({
    name: 'NotFound',
  });
});

test('a bucket can be created, and an invalid name is refused', async () => {
  const { client } = await open();
  await client.send(new CreateBucketCommand({ Bucket: 'more' }));
  expect((await client.send(new HeadBucketCommand({ Bucket: 'more' }))).$metadata.httpStatusCode).toBe(200);
  await expect(client.send(new CreateBucketCommand({ Bucket: 'a..b' }))).rejects.toMatchObject({
    name: 'InvalidBucketName',
  });
});

test('A27: deleting is idempotent, one object or many', async () => {
  const { client } = await open();
  for (const Key of ['a', 'b&<">', 'c']) await client.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
  await client.send(new DeleteObjectCommand({ Bucket, Key: 'a' }));
  await client.send(new DeleteObjectCommand({ Bucket, Key: 'a' }));
  const deleted = await client.send(
    new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: 'b&<">' }, { Key: 'never' }] } }),
  );
  expect(deleted.Deleted).toEqual([{ Key: 'b&<">' }, { Key: 'never' }]);
  const left = await client.send(new ListObjectsV2Command({ Bucket }));
  expect(left.Contents?.map(({ Key }) => Key)).toEqual(['c']);
});

test('A27: a list has pages, prefixes and a delimiter, each entry once', async () => {
  const { client } = await open();
  const keys = ['a', 'd/1', 'd/2', 'd/3/x', 'e/1', 'é', 'z'];
  for (const Key of keys) await client.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }));
  const walk = async (query: { Prefix?: string; Delimiter?: string }) => {
    const seen: (string | undefined)[] = [];
    let ContinuationToken: string | undefined;
    do {
      const page = await client.send(
        new ListObjectsV2Command({ Bucket, MaxKeys: 2, ...query, ContinuationToken }),
      );
      seen.push(...(page.Contents ?? []).map(({ Key }) => Key));
      seen.push(...(page.CommonPrefixes ?? []).map(({ Prefix }) => Prefix));
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined);
    return seen;
  };
  expect(await walk({})).toEqual(['a', 'd/1', 'd/2', 'd/3/x', 'e/1', 'z', 'é']);
  expect(await walk({ Delimiter: '/' })).toEqual(['a', 'd/', 'z', 'e/', 'é']);
  expect(await walk({ Prefix: 'd/', Delimiter: '/' })).toEqual(['d/1', 'd/2', 'd/3/']);
});

test('a key that looks like a path is a key', async () => {
  const { client, folder } = await open();
  for (const Key of ['../../escape', '/etc/passwd', '.', 'a//b', 'x'.repeat(1024)]) {
    await client.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
    expect(await read(client, Key)).toBe(Key);
  }
  expect(await readdir(folder)).toEqual([Bucket]);
  await expect(
    client.send(new PutObjectCommand({ Bucket, Key: 'x'.repeat(1025), Body: '' })),
  ).rejects.toMatchObject({ name: 'KeyTooLongError' });
});

test('A26: a conditional write reports whether the object existed', async () => {
  const { client } = await open();
  const put = (condition: object) =>
    client.send(new PutObjectCommand({ Bucket, Key: 'once', Body: '1', ...condition }));
  const { ETag } = await put({ IfNoneMatch: '*' });
  await expect(put({ IfNoneMatch: '*' })).rejects.toMatchObject({ name: 'PreconditionFailed' });
  await put({ IfMatch: ETag });
  await expect(put({ IfMatch: '"other"' })).rejects.toMatchObject({ name: 'PreconditionFailed' });
});

test('A26: of writers at once that each want to be the first, one is', async () => {
  const { client } = await open();
  const put = (number: number, condition: object) =>
    client.send(new PutObjectCommand({ Bucket, Key: 'first', Body: String(number), ...condition }));
  const won = async (condition: object): Promise<number> => {
    const writers = Array.from({ length: 12 }, (_, number) => put(number, condition));
    return (await Promise.allSettled(writers)).filter(({ status }) => status === 'fulfilled').length;
  };
  expect(await won({ IfNoneMatch: '*' })).toBe(1);
  const { ETag: IfMatch } = await client.send(new HeadObjectCommand({ Bucket, Key: 'first' }));
  // Of those whose bytes are the old ones each may win: their tag is the same.
  expect(await won({ IfMatch })).toBeLessThanOrEqual(2);
});

test('A26: an overwritten object leaves no data behind, and a reader of the old one reads it to its end', async () => {
  const { client, folder } = await open();
  const put = (text: string) => client.send(new PutObjectCommand({ Bucket, Key: 'k', Body: text }));
  await put('old'.repeat(1_000_000));
  const old = await client.send(new GetObjectCommand({ Bucket, Key: 'k' }));
  await put('new');
  expect(await old.Body?.transformToString()).toHaveLength(3_000_000);
  expect(await read(client, 'k')).toBe('new');
  expect(await readdir(join(folder, Bucket, 'bytes'))).toHaveLength(1);
});

test('a body without a length and a deletion without a checksum are refused, as S3 refuses them', async () => {
  const { url, credentials } = await open();
  const ask = async (
    path: string,
    given: { readonly method?: string; readonly headers?: Record<string, string> },
    body: string,
  ) => {
    const { status, text } = await sendSigned(
      { url: `${url}/${Bucket}${path}`, service: 's3', body, ...given },
      credentials,
    );
    return [status, /<Code>(\w+)<\/Code>/.exec(text)?.[1]];
  };
  const chunked = { 'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' };
  expect(await ask('/k', { method: 'PUT', headers: chunked }, '0\r\n\r\n')).toEqual([
    411,
    'MissingContentLength',
  ]);
  const keys = '<Delete><Object><Key>k</Key></Object></Delete>';
  expect(await ask('?delete', {}, keys)).toEqual([400, 'InvalidRequest']);
});

test('a condition of a request that would be overlooked is refused by name', async () => {
  const { client } = await open();
  await client.send(new PutObjectCommand({ Bucket, Key: 'k', Body: '1' }));
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'k' }));
  for (const command of [
    new GetObjectCommand({ Bucket, Key: 'k', IfNoneMatch: '*' }),
    new GetObjectCommand({ Bucket, Key: 'k', IfModifiedSince: new Date() }),
    new DeleteObjectCommand({ Bucket, Key: 'k', IfMatch: '"1"' }),
    new CompleteMultipartUploadCommand({ Bucket, Key: 'k', UploadId, IfNoneMatch: '*' }),
  ])
    await expect(client.send(command as GetObjectCommand)).rejects.toMatchObject({ name: 'NotImplemented' });
});

test('objects survive a restart', async () => {
  const first = await open();
  await first.client.send(new PutObjectCommand({ Bucket, Key: 'kept', Body: 'yes', Metadata: { a: '1' } }));
  await first.stop();
  const second = await open(first.folder);
  const got = await second.client.send(new GetObjectCommand({ Bucket, Key: 'kept' }));
  expect([await got.Body?.transformToString(), got.Metadata]).toEqual(['yes', { a: '1' }]);
});

test('an unsigned request is refused in XML', async () => {
  const { url } = await open();
  const answer = await fetch(`${url}/${Bucket}/x`, { method: 'PUT', body: 'x' });
  expect(answer.status).toBe(403);
  expect(await answer.text()).toContain('<Code>AccessDeniedException</Code>');
});

const fiveMegabytes = 5 * 1024 * 1024;

const openUpload = async (client: S3Client, Key = 'big') => {
  const made = await client.send(new CreateMultipartUploadCommand({ Bucket, Key, ContentType: 'text/x' }));
  const { UploadId = '' } = made;
  const put = async (PartNumber: number, Body: Buffer) => {
    const { ETag } = await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }));
    return { PartNumber, ETag };
  };
  type Part = Awaited<ReturnType<typeof put>>;
  const complete = (...Parts: Part[]) =>
    client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));
  const abort = () => client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
  return { put, complete, abort, UploadId };
};

test('parts become one object in their order, which does not exist before', async () => {
  const { client, folder } = await open();
  const { put, complete, abort, UploadId } = await openUpload(client);
  const second = await put(2, Buffer.from('end'));
  await put(1, Buffer.alloc(fiveMegabytes, 'x'));
  const first = await put(1, Buffer.alloc(fiveMegabytes, 'a'));
  await expect(read(client, 'big')).rejects.toMatchObject({ name: 'NoSuchKey' });
  const listed = await client.send(new ListMultipartUploadsCommand({ Bucket }));
  expect(listed.Uploads).toEqual([{ Key: 'big', UploadId }]);
  // The MD5 of both MD5s, computed apart.
  expect((await complete(first, second)).ETag).toBe('"cc8f6f16b44b75adde6349ab98aee432-2"');
  const got = await client.send(new GetObjectCommand({ Bucket, Key: 'big' }));
  expect([got.ContentType, got.ContentLength]).toEqual(['text/x', fiveMegabytes + 3]);
  expect(await got.Body?.transformToString()).toBe(`${'a'.repeat(fiveMegabytes)}end`);
  await expect(abort()).rejects.toMatchObject({ name: 'NoSuchUpload' });
  expect(await readdir(join(folder, Bucket, 'bytes'))).toHaveLength(1);
});

test('A27: requests that complete one upload at once get one answer, and make one object', async () => {
  const { client, folder } = await open();
  const { put, complete } = await openUpload(client);
  const part = await put(1, Buffer.alloc(fiveMegabytes, 'a'));
  const etags = (await Promise.all([complete(part), complete(part)])).map(({ ETag }) => ETag);
  expect(new Set(etags).size).toBe(1);
  expect((await read(client, 'big')).length).toBe(fiveMegabytes);
  expect(await readdir(join(folder, Bucket, 'bytes'))).toHaveLength(1);
});

test.each(['bytes', 'records'])(
  'an upload that could not be completed is completed by a later request: %s',
  async (part) => {
    const { client, folder } = await open();
    const { put, complete } = await openUpload(client);
    const only = await put(1, Buffer.from('a'));
    const away = join(folder, Bucket, part);
    await rename(away, `${away}.away`);
    await expect(complete(only)).rejects.toMatchObject({ name: 'InternalError' });
    await rename(`${away}.away`, away);
    // The part.
    expect(await readdir(join(folder, Bucket, 'bytes'))).toHaveLength(1);
    await complete(only);
    expect(await read(client, 'big')).toBe('a');
  },
);

test('an upload that nobody ended is aborted after a day, when another begins', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const { url, credentials, folder } = await open();
  // A client that has seen the server's time, which its headers repeat for a second, would sign with that.
  const clients = () => new S3Client({ endpoint: url, region: 'us-east-1', credentials, maxAttempts: 1 });
  const client = { send: (command: GetObjectCommand) => clients().send(command) } as S3Client;
  const old = await openUpload(client, 'old');
  await old.put(1, Buffer.from('a'));
  vi.setSystemTime(Date.now() + 23 * 3_600_000);
  const recent = await openUpload(client, 'recent');
  await old.put(2, Buffer.from('b'));
  vi.setSystemTime(Date.now() + 2 * 3_600_000);
  const last = await openUpload(client, 'last');
  const listed = await client.send(new ListMultipartUploadsCommand({ Bucket }));
  expect(listed.Uploads?.map(({ UploadId }) => UploadId)).toEqual([recent.UploadId, last.UploadId]);
  expect(await readdir(join(folder, Bucket, 'bytes'))).toEqual([]);
  await expect(old.put(3, Buffer.from('c'))).rejects.toMatchObject({ name: 'NoSuchUpload' });
});

test('an object whose bytes are gone is answered as a missing one, since it never comes back', async () => {
  const { client, folder } = await open();
  await client.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'whole' }));
  const [bytes = ''] = await readdir(join(folder, Bucket, 'bytes'));
  await rm(join(folder, Bucket, 'bytes', bytes));
  await expect(read(client, 'k')).rejects.toMatchObject({ name: 'NoSuchKey' });
});

test.each([
  ['are cut short', (file: string) => truncate(file, 2)],
  ['cannot be opened', (file: string) => rm(file).then(() => symlink(file, file))],
])(
  'an object whose bytes %s is answered with InternalError, which no client takes for a missing one',
  async (_what, damage) => {
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    onTestFinished(() => said.mockRestore());
    const { client, folder } = await open();
    await client.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'whole' }));
    const [bytes = ''] = await readdir(join(folder, Bucket, 'bytes'));
    await damage(join(folder, Bucket, 'bytes', bytes));
    await expect(read(client, 'k')).rejects.toMatchObject({ name: 'InternalError' });
    await expect(client.send(new HeadObjectCommand({ Bucket, Key: 'k' }))).rejects.toMatchObject({
      $metadata: { httpStatusCode: 500 },
    });
    expect(said.mock.calls.join()).toContain('s3: a request failed');
  },
);

test('an aborted upload leaves no data', async () => {
  const { client, folder } = await open();
  const { put, abort } = await openUpload(client);
  await put(1, Buffer.from('a'));
  await abort();
  await expect(put(2, Buffer.from('b'))).rejects.toMatchObject({ name: 'NoSuchUpload' });
  expect((await client.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads).toBeUndefined();
  expect(await readdir(join(folder, Bucket, 'bytes'))).toEqual([]);
});

test('parts that are too small, out of order, unknown or different from those sent create no object', async () => {
  const { client } = await open();
  const { put, complete } = await openUpload(client);
  const first = await put(1, Buffer.from('small'));
  const second = await put(2, Buffer.from('b'));
  await expect(complete(first, second)).rejects.toMatchObject({ name: 'EntityTooSmall' });
  await expect(complete(second, first)).rejects.toMatchObject({ name: 'InvalidPartOrder' });
  await expect(complete({ PartNumber: 3, ETag: first.ETag })).rejects.toMatchObject({ name: 'InvalidPart' });
  await expect(complete({ PartNumber: 1, ETag: second.ETag })).rejects.toMatchObject({ name: 'InvalidPart' });
  await expect(put(10_001, Buffer.from('c'))).rejects.toMatchObject({ name: 'InvalidArgument' });
  await expect(read(client, 'big')).rejects.toMatchObject({ name: 'NoSuchKey' });
});

test('an operation that is not implemented is refused by name', async () => {
  const { client } = await open();
  await expect(client.send(new GetObjectTaggingCommand({ Bucket, Key: 'x' }))).rejects.toMatchObject({
    name: 'NotImplemented',
  });
});
