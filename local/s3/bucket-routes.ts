/**
 * ListObjectsV2 and DeleteObjects, the operations on a bucket.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { inPortions } from '../endpoint/file-steps.ts';
import { AwsError, readBody } from '../endpoint/http-messages.ts';
import type { Bucket } from './bucket.ts';
import { hasChecksum } from './received-body.ts';
import { sendXml, textsOf, type XmlElement } from './xml.ts';

const entriesMax = 1000;
/** A thousand keys of 1 KB, and room for their escapes. */
const deleteBodyBytesMax = 8 * 1024 * 1024;

export type BucketRequest = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly bucket: Bucket;
  readonly name: string;
  readonly query: URLSearchParams;
};

export const listObjects = ({ response, bucket, name, query }: BucketRequest): void => {
  const prefix = query.get('prefix') ?? '';
  const delimiter = query.get('delimiter') ?? '';
  const limit = Math.min(entriesMax, Number(query.get('max-keys') ?? entriesMax));
  const token = query.get('continuation-token');
  const after =
    token === null ? (query.get('start-after') ?? '') : Buffer.from(token, 'base64url').toString();
  const page = listPage(bucket.keys(), { prefix, delimiter, after, entriesMax: limit });
  sendXml(response, 'ListBucketResult', [
    ['Name', name],
    ['Prefix', prefix],
    ...(delimiter === '' ? [] : [['Delimiter', delimiter] as const]),
    ['MaxKeys', limit],
    ['KeyCount', page.keys.length + page.commonPrefixes.length],
    ['IsTruncated', page.next !== undefined],
    ...(page.next === undefined
      ? []
      : [['NextContinuationToken', Buffer.from(page.next).toString('base64url')] as const]),
    ...page.keys.map((key): XmlElement => ['Contents', describe(bucket, key)]),
    ...page.commonPrefixes.map((one): XmlElement => ['CommonPrefixes', [['Prefix', one]]]),
  ]);
};

const describe = (bucket: Bucket, key: string): readonly XmlElement[] => {
  const record = bucket.find(key);
  return [
    ['Key', key],
    ['LastModified', new Date(record?.modifiedAt ?? 0).toISOString()],
    ['ETag', record?.etag ?? ''],
    ['Size', record?.size ?? 0],
    ['StorageClass', 'STANDARD'],
  ];
};

export const deleteObjects = async ({ request, response, bucket }: BucketRequest): Promise<void> => {
  if (!hasChecksum(request.headers))
    throw new AwsError(
      400,
      'InvalidRequest',
      'Missing required header for this request: Content-MD5 OR x-amz-checksum-*',
    );
  const body = await readBody(request, deleteBodyBytesMax);
  const xml = body?.toString() ?? '';
  const keys = textsOf(xml, 'Key');
  if (keys.length === 0 || keys.length > entriesMax) {
    throw new AwsError(400, 'MalformedXML', 'The XML you provided was not well-formed');
  }
  await inPortions(keys, (key) => bucket.remove(key));
  const isQuiet = textsOf(xml, 'Quiet')[0] === 'true';
  const deleted = isQuiet ? [] : keys.map((key): XmlElement => ['Deleted', [['Key', key]]]);
  sendXml(response, 'DeleteResult', deleted);
};

type ListQuery = {
  readonly prefix: string;
  readonly delimiter: string;
  /** Entries up to and including this one are left out. */
  readonly after: string;
  readonly entriesMax: number;
};

type ListPage = {
  readonly keys: readonly string[];
  readonly commonPrefixes: readonly string[];
  /** The token of the next page; undefined on the last. */
  readonly next: string | undefined;
};

/** One page: keys under a prefix, rolled up at a delimiter, at most a thousand entries; pure (A27). */
const listPage = (sorted: readonly string[], query: ListQuery): ListPage => {
  const keys: string[] = [];
  const commonPrefixes: string[] = [];
  let last = '';
  for (const key of sorted) {
    if (!key.startsWith(query.prefix) || isBeforePage(key, query)) continue;
    const rolled = rollUp(key, query);
    if (rolled !== undefined && rolled === commonPrefixes.at(-1)) continue;
    if (keys.length + commonPrefixes.length === query.entriesMax) return { keys, commonPrefixes, next: last };
    last = rolled ?? key;
    (rolled === undefined ? keys : commonPrefixes).push(last);
  }
  return { keys, commonPrefixes, next: undefined };
};

/** A page that ended with a rolled-up prefix has covered all keys under it. */
const isBeforePage = (key: string, { after, delimiter }: ListQuery): boolean =>
  after !== '' &&
  (Buffer.compare(Buffer.from(key), Buffer.from(after)) <= 0 ||
    (delimiter !== '' && after.endsWith(delimiter) && key.startsWith(after)));

const rollUp = (key: string, { prefix, delimiter }: ListQuery): string | undefined => {
  if (delimiter === '') return undefined;
  const end = key.indexOf(delimiter, prefix.length);
  return end < 0 ? undefined : key.slice(0, end + delimiter.length);
};
