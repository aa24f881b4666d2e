/**
 * PutObject, GetObject, HeadObject and DeleteObject.
 *
 * Bodies are streamed to and from the disk. What the endpoint does not do (copies) it refuses by name rather
 * than storing something else (A25, A26).
 */
import type { FileHandle } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { AwsError } from '../endpoint/aws-error.ts';
import type { Bucket, ObjectRecord } from './bucket.ts';
import { openChecksums } from './checksum.ts';
import { decodeChunked } from './chunked-body.ts';
import { parseRange } from './range.ts';

export type ObjectRequest = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly bucket: Bucket;
  readonly key: string;
};

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/upload-objects.html: 5 GB in one PUT. */
const objectBytesMax = 5 * 1024 ** 3;
/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html */
const keyBytesMax = 1024;
const keptHeaders = [
  'content-type',
  'content-disposition',
  'content-language',
  'cache-control',
  'content-encoding',
];

export const putObject = async ({ request, response, bucket, key }: ObjectRequest): Promise<void> => {
  refusePut(request, key);
  refuseByCondition(request, bucket.find(key));
  const draft = await bucket.draft();
  try {
    const stored = await receive(request, draft.handle);
    refuseByCondition(request, bucket.find(key));
    const etag = `"${stored.md5}"`;
    const headers = { ...keepHeaders(request), ...stored.headers };
    await draft.commit({ key, size: stored.size, etag, headers });
    response.writeHead(200, { etag, ...stored.headers, ...checksumType(stored.headers) }).end();
  } catch (cause) {
    await draft.discard();
    throw cause;
  }
};

export const refusePut = ({ headers }: IncomingMessage, key: string): void => {
  if (headers['x-amz-copy-source'] !== undefined) {
    throw new AwsError(501, 'NotImplemented', { message: 'CopyObject is not implemented here' });
  }
  if (Buffer.byteLength(key) > keyBytesMax)
    throw new AwsError(400, 'KeyTooLongError', { message: 'Your key is too long' });
  if (Number(headers['content-length'] ?? 0) > objectBytesMax) {
    throw new AwsError(400, 'EntityTooLarge', {
      message: 'Your proposed upload exceeds the maximum allowed size',
    });
  }
};

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html */
const refuseByCondition = ({ headers }: IncomingMessage, existing: ObjectRecord | undefined): void => {
  const mustBe = headers['if-match'];
  if (mustBe !== undefined && existing === undefined) throw noSuchKey();
  if (
    (headers['if-none-match'] === '*' && existing !== undefined) ||
    (mustBe !== undefined && mustBe !== existing?.etag)
  ) {
    throw new AwsError(412, 'PreconditionFailed', {
      message: 'At least one of the pre-conditions you specified did not hold',
    });
  }
};

type Stored = {
  readonly size: number;
  readonly md5: string;
  readonly headers: Readonly<Record<string, string>>;
};

export const receive = async (request: IncomingMessage, handle: FileHandle): Promise<Stored> => {
  const { headers } = request;
  const isChunked = String(headers['x-amz-content-sha256']).startsWith('STREAMING-');
  const body = isChunked ? decodeChunked(request) : { bytes: request, trailers: new Map<string, string>() };
  const checksums = openChecksums(headers);
  let size = 0;
  for await (const bytes of body.bytes as AsyncIterable<Buffer>) {
    size += bytes.length;
    checksums.add(bytes);
    await handle.writeFile(bytes);
  }
  const announced = headers[isChunked ? 'x-amz-decoded-content-length' : 'content-length'];
  if (announced !== undefined && Number(announced) !== size) {
    throw new AwsError(400, 'IncompleteBody', { message: `${size} bytes came of ${announced}` });
  }
  return { size, ...checksums.verify(body.trailers) };
};

export const keepHeaders = ({ headers }: IncomingMessage): Record<string, string> => {
  const kept = Object.entries(headers).flatMap(([name, value]) =>
    keptHeaders.includes(name) || name.startsWith('x-amz-meta-') ? [[name, String(value)] as const] : [],
  );
  const result = Object.fromEntries(kept);
  // `aws-chunked` is how the body travelled, not what it is.
  const encoding = (result['content-encoding'] ?? '').split(',').map((one) => one.trim());
  result['content-encoding'] = encoding.filter((one) => one !== 'aws-chunked').join(',');
  if (result['content-encoding'] === '') delete result['content-encoding'];
  return result;
};

export const getObject = async ({ request, response, bucket, key }: ObjectRequest): Promise<void> => {
  const found = await openCurrent(bucket, key);
  const { record, handle } = found;
  try {
    const range = parseRange(request.headers.range, record.size);
    const [status, headers] = answerHead(request, record, range);
    response.writeHead(status, headers);
    if (request.method === 'HEAD' || record.size === 0) response.end();
    else
      await pipeline(handle.createReadStream({ autoClose: false, ...range }), response).catch(forgiveLeaving);
  } finally {
    await handle.close();
  }
};

/** The object may be replaced between looking it up and opening it; once it is open it stays readable. */
const openCurrent = async (bucket: Bucket, key: string) => {
  const attempt = () => bucket.read(key).catch(() => undefined);
  const found = (await attempt()) ?? (await attempt());
  if (found === undefined) throw noSuchKey();
  return found;
};

type ByteRange = { readonly start: number; readonly end: number };

const answerHead = (
  request: IncomingMessage,
  record: ObjectRecord,
  range: ByteRange | undefined,
): [status: number, headers: Record<string, string | number>] => {
  const isChecked = request.headers['x-amz-checksum-mode'] === 'ENABLED' && range === undefined;
  const kept = Object.entries(record.headers).filter(
    ([name]) => isChecked || !name.startsWith('x-amz-checksum-'),
  );
  const headers: Record<string, string | number> = {
    'content-type': 'binary/octet-stream',
    ...Object.fromEntries(kept),
    ...(isChecked ? checksumType(record.headers) : {}),
    etag: record.etag,
    'last-modified': new Date(record.modifiedAt).toUTCString(),
    'accept-ranges': 'bytes',
    'content-length': range === undefined ? record.size : range.end - range.start + 1,
  };
  if (range === undefined) return [200, headers];
  return [206, { ...headers, 'content-range': `bytes ${range.start}-${range.end}/${record.size}` }];
};

const checksumType = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.keys(headers).some((name) => name.startsWith('x-amz-checksum-'))
    ? { 'x-amz-checksum-type': 'FULL_OBJECT' }
    : {};

const forgiveLeaving = (cause: unknown): void => {
  if ((cause as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw cause;
};

export const deleteObject = async ({ response, bucket, key }: ObjectRequest): Promise<void> => {
  await bucket.remove(key);
  response.writeHead(204).end();
};

const noSuchKey = (): AwsError =>
  new AwsError(404, 'NoSuchKey', { message: 'The specified key does not exist.' });
