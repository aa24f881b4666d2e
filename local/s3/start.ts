/**
 * S3 on one machine: buckets in a folder, path-style, for the real `@aws-sdk/client-s3`.
 *
 * Copies are refused by name. A bucket that was created with Object Lock keeps its versions (locked-bucket.ts).
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Keys } from '../endpoint/account.ts';
import { AwsError, type WriteError } from '../endpoint/http-messages.ts';
import { type Endpoint, listenSigned } from '../endpoint/listen.ts';
import { type Bucket, openBucket } from './bucket.ts';
import { type BucketRequest, deleteObjects, listObjects } from './bucket-routes.ts';
import { listVersions, refuseWithoutChecksum, removeVersion, setLock, showLock } from './lock-routes.ts';
import { type Lock, openLockedBucket, readLock, writeLock } from './locked-bucket.ts';
import {
  abortUpload,
  completeUpload,
  createUpload,
  listUploads,
  putPart,
  type Uploads,
} from './multipart.ts';
import { deleteObject, getObject, type ObjectRequest, putObject } from './object-routes.ts';
import { document } from './xml.ts';

type S3Options = {
  readonly folder: string;
  /** Created at the start if they are missing. */
  readonly buckets?: readonly string[];
  readonly keys?: Keys;
};

type OpenBucket = Bucket & { readonly uploads: Uploads; readonly lock?: Lock };
type Buckets = Map<string, OpenBucket>;

const openAt = async (folder: string): Promise<OpenBucket> => {
  const isLocked = (await readLock(folder)) !== undefined;
  return { ...(isLocked ? await openLockedBucket(folder) : await openBucket(folder)), uploads: new Map() };
};

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html; no name can leave the folder. */
const bucketName = /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/;

export const start = async ({ folder, buckets: required = [], keys }: S3Options): Promise<Endpoint> => {
  const existing = await readdir(folder).catch(() => []);
  const names = new Set([...existing.filter((name) => bucketName.test(name)), ...required]);
  const buckets: Buckets = new Map();
  for (const name of names) buckets.set(name, await openAt(join(folder, name)));
  return listenSigned(
    (request, response) =>
      answer({ folder, buckets }, request, response).catch((cause) => failAsS3(response, cause)),
    { keys, writeError: writeXmlError },
  );
};

/** A failure of the disk, which no client may take for a missing object. */
const failAsS3 = (response: ServerResponse, cause: unknown): never => {
  if (cause instanceof AwsError || response.headersSent || response.destroyed) throw cause;
  process.stderr.write(`s3: a request failed: ${cause}\n`);
  throw new AwsError(500, 'InternalError', 'We encountered an internal error. Please try again.');
};

type Store = { readonly folder: string; readonly buckets: Buckets };

const answer = async (store: Store, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const { name, key, query } = parseTarget(request);
  if (key === '' && request.method === 'PUT' && !query.has('object-lock')) {
    await createBucket(store, name, { request, response });
    return;
  }
  const bucket = store.buckets.get(name);
  if (bucket === undefined) {
    throw new AwsError(404, 'NoSuchBucket', 'The specified bucket does not exist');
  }
  if (key === '') await answerForBucket({ request, response, bucket, name, query });
  else await answerForObject({ request, response, bucket, key }, query);
};

const answerForBucket = async (input: BucketRequest & { readonly bucket: OpenBucket }): Promise<void> => {
  const { request, response, query, bucket } = input;
  const { lock } = bucket;
  if (request.method === 'HEAD') response.writeHead(200).end();
  else if (request.method === 'GET' && query.has('object-lock')) showLock(input, lock);
  else if (request.method === 'PUT' && lock !== undefined) await setLock(input, lock);
  else if (request.method === 'GET' && query.has('versions') && lock !== undefined) listVersions(input, lock);
  else if (request.method === 'GET' && query.get('list-type') === '2') listObjects(input);
  else if (request.method === 'GET' && query.has('uploads')) listUploads(bucket.uploads, response);
  else if (request.method === 'POST' && query.has('delete')) await deleteObjects(input);
  else throw notImplemented(`${request.method} of a bucket`);
};

const answerForObject = async (
  input: ObjectRequest & { readonly bucket: OpenBucket },
  query: URLSearchParams,
): Promise<void> => {
  const method = input.request.method ?? '';
  const uploadId = query.get('uploadId');
  const partNumber = Number(query.get('partNumber') ?? 0);
  refuseOverlooked(input.request, uploadId === null && method === 'PUT');
  if (uploadId !== null) {
    const route = uploadRoutes[method];
    if (route === undefined) throw notImplemented(`${method} of an upload`);
    await route({ ...input, uploads: input.bucket.uploads, uploadId, partNumber });
    return;
  }
  if (method === 'POST' && query.has('uploads')) {
    await createUpload(input.bucket.uploads, input);
    return;
  }
  const { lock } = input.bucket;
  const versionId = query.get('versionId');
  if (method === 'DELETE' && versionId !== null && lock !== undefined) {
    await removeVersion(input, lock, versionId);
    return;
  }
  if (method === 'PUT' && lock?.days() !== undefined) refuseWithoutChecksum(input.request);
  const isOther = ['uploads', 'tagging', 'acl', 'versionId', 'retention', 'legal-hold'].some((name) =>
    query.has(name),
  );
  const route = isOther ? undefined : objectRoutes[method];
  if (route === undefined) throw notImplemented(`${method} of an object with ${query}`);
  await route(input);
};

const conditions = ['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since'];
/** S3 heeds them all: an answer that overlooks one would be another there. */
const refuseOverlooked = ({ headers, method }: IncomingMessage, isPutObject: boolean): void => {
  const heeded = isPutObject ? conditions.slice(0, 2) : [];
  const overlooked = conditions.find((name) => headers[name] !== undefined && !heeded.includes(name));
  if (overlooked !== undefined) throw notImplemented(`${method} with ${overlooked}`);
};

const notImplemented = (operation: string): AwsError =>
  new AwsError(501, 'NotImplemented', `${operation} is not implemented here`);

const objectRoutes: Readonly<Record<string, typeof putObject>> = {
  PUT: putObject,
  GET: getObject,
  HEAD: getObject,
  DELETE: deleteObject,
};

const uploadRoutes: Readonly<Record<string, typeof putPart>> = {
  PUT: putPart,
  POST: completeUpload,
  DELETE: abortUpload,
};

type Target = { readonly name: string; readonly key: string; readonly query: URLSearchParams };

/** Splits by hand, since a URL parser would resolve a `..` in the key. */
const parseTarget = ({ url = '/' }: IncomingMessage): Target => {
  const [path = '', search = ''] = url.split('?');
  const [, name = '', ...rest] = path.split('/');
  return { name: decode(name), key: decode(rest.join('/')), query: new URLSearchParams(search) };
};

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw Object.assign(new AwsError(400, 'InvalidURI', "Couldn't parse the specified URI."), {
      cause,
    });
  }
};

const createBucket = async (
  { folder, buckets }: Store,
  name: string,
  { request, response }: Pick<BucketRequest, 'request' | 'response'>,
): Promise<void> => {
  if (!bucketName.test(name)) {
    throw new AwsError(400, 'InvalidBucketName', 'The specified bucket is not valid.');
  }
  if (!buckets.has(name)) {
    const own = join(folder, name);
    if (request.headers['x-amz-bucket-object-lock-enabled'] === 'true') {
      await mkdir(own, { recursive: true, mode: 0o700 });
      await writeLock(own, {});
    }
    buckets.set(name, await openAt(own));
  }
  response.writeHead(200, { location: `/${name}` }).end();
};

const writeXmlError: WriteError = (request, response, error) => {
  // The rest of a refused body would otherwise keep the client sending.
  request.resume();
  const requestId = randomUUID();
  response.writeHead(error.status, { 'content-type': 'application/xml', 'x-amz-request-id': requestId });
  response.end(
    request.method === 'HEAD'
      ? undefined
      : document('Error', [
          ['Code', error.name],
          ['Message', error.message],
          ['RequestId', requestId],
        ]),
  );
};
