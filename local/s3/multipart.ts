/**
 * Multipart uploads: parts on disk, joined into one object when the upload is completed.
 *
 * Uploads live in memory and are lost with a restart; their bytes have no record and are deleted when the bucket is
 * opened. One that was not ended is aborted a day after its begin, as by the lifecycle rule of the bucket on AWS. Parts that are too small, out of order or different from the sent ones are refused, as S3 refuses them.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html
 */
import { createHash, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { AwsError, readBody } from '../endpoint/http-messages.ts';
import type { Bucket } from './bucket.ts';
import { type ObjectRequest, refusePut, storedHeadersOf } from './object-routes.ts';
import { receive } from './received-body.ts';
import { sendXml, sendXmlOnceKnown, textsOf, type XmlDocument, type XmlElement } from './xml.ts';

type Draft = Awaited<ReturnType<Bucket['draft']>>;
type Part = { readonly draft: Draft; readonly size: number; readonly md5: string };
type Upload = {
  readonly key: string;
  readonly createdAt: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly parts: Map<number, Part>;
  /** Of the request that completes it; a repeated one gets the same answer, unless it failed. */
  joined?: Promise<XmlDocument> | undefined;
};

export type Uploads = Map<string, Upload>;

type UploadRequest = ObjectRequest & {
  readonly uploads: Uploads;
  readonly uploadId: string;
  /** 0 when none was given. */
  readonly partNumber: number;
};

const partBytesMin = 5 * 1024 * 1024;
const partsMax = 10_000;
const completeBodyBytesMax = 8 * 1024 * 1024;
const joinChunkBytes = 1024 * 1024;
/** A client breaks off after a minute without a byte. */
const keepAliveMs = 5000;

const uploadMsMax = 86_400_000;

export const createUpload = async (
  uploads: Uploads,
  { request, response, key }: ObjectRequest,
): Promise<void> => {
  refusePut(request, key);
  await abortOld(uploads);
  const uploadId = randomUUID();
  const headers = storedHeadersOf(request);
  uploads.set(uploadId, { key, createdAt: Date.now(), headers, parts: new Map() });
  sendXml(response, 'InitiateMultipartUploadResult', [
    ['Key', key],
    ['UploadId', uploadId],
  ]);
};

const abortOld = async (uploads: Uploads): Promise<void> => {
  for (const [uploadId, upload] of uploads) {
    if (upload.joined !== undefined || Date.now() - upload.createdAt <= uploadMsMax) continue;
    uploads.delete(uploadId);
    await discardParts(upload);
  }
};

export const putPart = async (input: UploadRequest): Promise<void> => {
  const { request, response, bucket, key, partNumber } = input;
  refusePut(request, key);
  if (!Number.isInteger(partNumber) || partNumber < 1 || partNumber > partsMax)
    throw new AwsError(400, 'InvalidArgument', 'Part number must be between 1 and 10000');
  find(input);
  const draft = await bucket.draft();
  try {
    const { size, md5, headers } = await receive(request, draft.handle);
    const { parts } = find(input);
    const previous = parts.get(partNumber);
    parts.set(partNumber, { draft, size, md5 });
    await previous?.draft.discard();
    response.writeHead(200, { etag: `"${md5}"`, ...headers }).end();
  } catch (cause) {
    await draft.discard();
    throw cause;
  }
};

export const completeUpload = async (input: UploadRequest): Promise<void> => {
  const { request, response } = input;
  const upload = find(input);
  const xml = (await readBody(request, completeBodyBytesMax))?.toString() ?? '';
  const parts = chosenParts(upload, xml);
  upload.joined ??= join(input, upload, parts).catch((cause: unknown) => {
    upload.joined = undefined;
    throw cause;
  });
  await sendXmlOnceKnown(response, upload.joined.catch(failedJoin), keepAliveMs);
};

const join = async (
  { bucket, key, uploads, uploadId }: UploadRequest,
  upload: Upload,
  parts: readonly Part[],
): Promise<XmlDocument> => {
  const draft = await bucket.draft();
  const size = await copyParts(parts, draft).catch(async (cause: unknown) => {
    await draft.discard();
    throw cause;
  });
  const md5 = createHash('md5');
  for (const part of parts) md5.update(Buffer.from(part.md5, 'hex'));
  const etag = `"${md5.digest('hex')}-${parts.length}"`;
  await draft.commit({ key, size, etag, headers: upload.headers });
  uploads.delete(uploadId);
  await discardParts(upload);
  return [
    'CompleteMultipartUploadResult',
    [
      ['Key', key],
      ['ETag', etag],
    ],
  ];
};

const copyParts = async (parts: readonly Part[], { handle }: Draft): Promise<number> => {
  let size = 0;
  for (const part of parts) {
    const read = { autoClose: false, start: 0, highWaterMark: joinChunkBytes };
    for await (const bytes of part.draft.handle.createReadStream(read)) {
      size += bytes.length;
      await handle.writeFile(bytes);
    }
  }
  return size;
};

/** The status is sent by then: the failure is in the document, as S3 does it. */
const failedJoin = (cause: unknown): XmlDocument => {
  process.stderr.write(`s3: an upload was not completed: ${cause}\n`);
  return [
    'Error',
    [
      ['Code', 'InternalError'],
      ['Message', 'We encountered an internal error. Please try again.'],
    ],
  ];
};

export const abortUpload = async (input: UploadRequest): Promise<void> => {
  const upload = find(input);
  input.uploads.delete(input.uploadId);
  await discardParts(upload);
  input.response.writeHead(204).end();
};

/** Lists all uploads in one page. */
export const listUploads = (uploads: Uploads, response: ServerResponse): void =>
  sendXml(response, 'ListMultipartUploadsResult', [
    ['IsTruncated', false],
    ...[...uploads].map(
      ([uploadId, { key }]): XmlElement => [
        'Upload',
        [
          ['Key', key],
          ['UploadId', uploadId],
        ],
      ],
    ),
  ]);

const find = ({ uploads, uploadId, key }: UploadRequest): Upload => {
  const upload = uploads.get(uploadId);
  if (upload?.key === key) return upload;
  throw new AwsError(404, 'NoSuchUpload', 'The specified upload does not exist.');
};

const chosenParts = ({ parts }: Upload, xml: string): readonly Part[] => {
  const numbers = textsOf(xml, 'PartNumber').map(Number);
  const etags = textsOf(xml, 'ETag').map((etag) => etag.replaceAll('"', ''));
  if (numbers.length === 0 || numbers.length !== etags.length)
    throw new AwsError(400, 'MalformedXML', 'The XML you provided was not well-formed');
  if (numbers.some((number, index) => index > 0 && number <= (numbers[index - 1] ?? 0)))
    throw new AwsError(400, 'InvalidPartOrder', 'The list of parts was not in ascending order.');
  return numbers.map((number, index) => {
    const part = parts.get(number);
    if (part === undefined || part.md5 !== etags[index])
      throw new AwsError(400, 'InvalidPart', 'One or more of the parts could not be found.');
    if (part.size < partBytesMin && index < numbers.length - 1)
      throw new AwsError(
        400,
        'EntityTooSmall',
        'Your proposed upload is smaller than the minimum allowed size',
      );
    return part;
  });
};

const discardParts = async ({ parts }: Upload): Promise<void> => {
  for (const { draft } of parts.values()) await draft.discard();
};
