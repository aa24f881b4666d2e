/**
 * Object Lock's operations: the configuration of a bucket, ListObjectVersions, and the removal of a version.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-lock-configure.html
 */
import type { IncomingMessage } from 'node:http';
import { AwsError, readBody } from '../endpoint/http-messages.ts';
import type { BucketRequest } from './bucket-routes.ts';
import type { Lock, ObjectVersion } from './locked-bucket.ts';
import type { ObjectRequest } from './object-routes.ts';
import { hasChecksum } from './received-body.ts';
import { sendXml, textsOf, type XmlElement } from './xml.ts';

const bodyBytesMax = 64 * 1024;
/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-lock.html: a hundred years. */
const daysMax = 36_500;

export const setLock = async ({ request, response }: BucketRequest, lock: Lock): Promise<void> => {
  const xml = (await readBody(request, bodyBytesMax))?.toString() ?? '';
  const [mode] = textsOf(xml, 'Mode');
  if (mode !== 'GOVERNANCE') throw new AwsError(501, 'NotImplemented', `${mode} is not implemented here`);
  const days = Number(textsOf(xml, 'Days')[0]);
  if (!Number.isInteger(days) || days < 1 || days > daysMax)
    throw new AwsError(400, 'InvalidArgument', 'Default retention period must be a positive integer value.');
  await lock.setDays(days);
  response.writeHead(200).end();
};

export const showLock = ({ response }: BucketRequest, lock: Lock | undefined): void => {
  if (lock === undefined)
    throw new AwsError(
      404,
      'ObjectLockConfigurationNotFoundError',
      'Object Lock configuration does not exist for this bucket',
    );
  const days = lock.days();
  const retention: XmlElement = [
    'DefaultRetention',
    [
      ['Mode', 'GOVERNANCE'],
      ['Days', days ?? 0],
    ],
  ];
  sendXml(response, 'ObjectLockConfiguration', [
    ['ObjectLockEnabled', 'Enabled'],
    ...(days === undefined ? [] : [['Rule', [retention]] as const]),
  ]);
};

/** In one page. */
export const listVersions = ({ response, name, query }: BucketRequest, lock: Lock): void => {
  const prefix = query.get('prefix') ?? '';
  const versions = lock.versions().filter(({ key }) => key.startsWith(prefix));
  sendXml(response, 'ListVersionsResult', [
    ['Name', name],
    ['IsTruncated', false],
    ...versions.map((version, index) => describe(version, versions[index - 1]?.key !== version.key)),
  ]);
};

const describe = ({ key, versionId, isMarker, record }: ObjectVersion, isLatest: boolean): XmlElement => [
  isMarker ? 'DeleteMarker' : 'Version',
  [
    ['Key', key],
    ['VersionId', versionId],
    ['IsLatest', isLatest],
    ['LastModified', new Date(record.modifiedAt).toISOString()],
    ...(isMarker ? [] : [['Size', record.size] as const]),
  ],
];

export const removeVersion = async (
  { request, response, key }: ObjectRequest,
  lock: Lock,
  versionId: string,
): Promise<void> => {
  await lock.removeVersion(key, versionId, request.headers['x-amz-bypass-governance-retention'] === 'true');
  response.writeHead(204).end();
};

/** AWS asks it of every write into such a bucket, whether the retention is that of the request or of the bucket. */
export const refuseWithoutChecksum = ({ headers }: IncomingMessage): void => {
  if (hasChecksum(headers)) return;
  throw new AwsError(
    400,
    'InvalidRequest',
    'Content-MD5 OR x-amz-checksum- HTTP header is required for Put Object requests with Object Lock parameters',
  );
};
