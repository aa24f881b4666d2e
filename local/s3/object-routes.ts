/**
 * PutObject, GetObject, HeadObject and DeleteObject.
 *
 * Bodies are streamed to and from the disk. Operations that the endpoint does not implement (copies) are refused by
 * name (A25, A26).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { AwsError } from '../endpoint/http-messages.ts';
import type { Bucket, ObjectRecord } from './bucket.ts';
import { receive } from './received-body.ts';

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
const storedHeaders = [
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
    const etag = `"${stored.md5}"`;
    const headers = { ...storedHeadersOf(request), ...stored.headers };
    await draft.commit({ key, size: stored.size, etag, headers }, (existing) =>
      refuseByCondition(request, existing),
    );
    response.writeHead(200, { etag, ...stored.headers, ...checksumType(stored.headers) }).end();
  } catch (cause) {
    await draft.discard();
    throw cause;
  }
};

export const refusePut = ({ headers }: IncomingMessage, key: string): void => {
  if (headers['x-amz-copy-source'] !== undefined) {
    throw new AwsError(501, 'NotImplemented', 'CopyObject is not implemented here');
  }
  if (Buffer.byteLength(key) > keyBytesMax)
    throw new AwsError(400, 'KeyTooLongError', 'Your key is too long');
  if (Number(headers['content-length'] ?? 0) > objectBytesMax) {
    throw new AwsError(400, 'EntityTooLarge', 'Your proposed upload exceeds the maximum allowed size');
  }
};

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html */
const refuseByCondition = ({ headers }: IncomingMessage, existing: ObjectRecord | undefined): void => {
  const ifMatch = headers['if-match'];
  if (ifMatch !== undefined && existing === undefined) throw noSuchKey();
  if (
    (headers['if-none-match'] === '*' && existing !== undefined) ||
    (ifMatch !== undefined && ifMatch !== existing?.etag)
  ) {
    throw new AwsError(
      412,
      'PreconditionFailed',
      'At least one of the pre-conditions you specified did not hold',
    );
  }
};

export const storedHeadersOf = ({ headers }: IncomingMessage): Record<string, string> => {
  const stored = Object.entries(headers).flatMap(([name, value]) =>
    storedHeaders.includes(name) || name.startsWith('x-amz-meta-') ? [[name, String(value)] as const] : [],
  );
  const result = Object.fromEntries(stored);
  // `aws-chunked` is the encoding of the transfer, not of the content.
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
      await pipeline(handle.createReadStream({ autoClose: false, ...range }), response).catch(
        ignoreDisconnect,
      );
  } finally {
    await handle.close();
  }
};

/** Once it is open it stays readable. */
const openCurrent = async (bucket: Bucket, key: string) => {
  const found = await bucket.read(key);
  if (found === undefined) throw noSuchKey();
  return found;
};

const answerHead = (
  request: IncomingMessage,
  record: ObjectRecord,
  range: { readonly start: number; readonly end: number } | undefined,
): [status: number, headers: Record<string, string | number>] => {
  const isChecked = request.headers['x-amz-checksum-mode'] === 'ENABLED' && range === undefined;
  const returned = Object.entries(record.headers).filter(
    ([name]) => isChecked || !name.startsWith('x-amz-checksum-'),
  );
  const headers: Record<string, string | number> = {
    'content-type': 'binary/octet-stream',
    ...Object.fromEntries(returned),
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

const ignoreDisconnect = (cause: unknown): void => {
  if ((cause as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw cause;
};

export const deleteObject = async ({ response, bucket, key }: ObjectRequest): Promise<void> => {
  await bucket.remove(key);
  response.writeHead(204).end();
};

const noSuchKey = (): AwsError => new AwsError(404, 'NoSuchKey', 'The specified key does not exist.');

/**
 * Reads the Range header: one range, with both ends included. A header that is not understood is ignored, as RFC 9110
 * says; one outside the object is refused.
 */
const parseRange = (
  header: string | undefined,
  size: number,
): { readonly start: number; readonly end: number } | undefined => {
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined;
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const end = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (start > end) throw new AwsError(416, 'InvalidRange', 'The requested range is not satisfiable');
  return { start, end };
};
