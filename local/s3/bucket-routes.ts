/**
 * ListObjectsV2 and DeleteObjects: what is asked of a bucket rather than of one object.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AwsError } from '../endpoint/aws-error.ts';
import { readBody } from '../endpoint/request-body.ts';
import type { Bucket } from './bucket.ts';
import { listPage } from './listing.ts';
import { document, textsOf, type XmlElement } from './xml.ts';

const entriesMax = 1000;
/** A thousand keys of 1 KB with room for their escapes. */
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
  sendXml(
    response,
    document('ListBucketResult', [
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
    ]),
  );
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
  const body = await readBody(request, deleteBodyBytesMax);
  const xml = body?.toString() ?? '';
  const keys = textsOf(xml, 'Key');
  if (keys.length === 0 || keys.length > entriesMax) {
    throw new AwsError(400, 'MalformedXML', { message: 'The XML you provided was not well-formed' });
  }
  for (const key of keys) await bucket.remove(key);
  const isQuiet = textsOf(xml, 'Quiet')[0] === 'true';
  const deleted = isQuiet ? [] : keys.map((key): XmlElement => ['Deleted', [['Key', key]]]);
  sendXml(response, document('DeleteResult', deleted));
};

const sendXml = (response: ServerResponse, xml: string): void => {
  response.writeHead(200, { 'content-type': 'application/xml' }).end(xml);
};
