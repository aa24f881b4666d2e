/**
 * Deletion of the data that stacks retain: the table, the buckets with all versions of their objects, secrets, the key,
 * and log groups that services created themselves.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Aws, stackNames } from './aws.ts';
import type { Inventory } from './inventory.ts';
import { Failure } from './programs.ts';

type Deleting = { readonly aws: Aws; readonly say: (line: string) => void };

/** S3's limit per request: each page is deleted before the next is read. */
const objectsMax = 1000;
const daysOfKeyMin = 7;
/** Deliveries between two listings of one bucket. */
const deliveriesMax = 5;
const again = 'Run it again: it continues where it stopped.';

type Version = { readonly Key: string; readonly VersionId: string };

/** `bypasses`: also objects that an Object Lock keeps, for which the person needs s3:BypassGovernanceRetention. */
export const deleteBucket = async (
  { aws, say }: Deleting,
  bucket: string,
  bypasses = false,
): Promise<void> => {
  let count = 0;
  let wasFilled = 0;
  for (;;) {
    const args = ['--bucket', bucket, '--max-items', String(objectsMax)] as const;
    const page = await aws.find<{
      readonly Versions?: readonly Version[];
      readonly DeleteMarkers?: readonly Version[];
    }>(['NoSuchBucket'], 's3api', 'list-object-versions', ...args);
    const objects = [...(page?.Versions ?? []), ...(page?.DeleteMarkers ?? [])];
    if (objects.length === 0) {
      const deleted = await deleteEmpty(aws, bucket);
      if (deleted) break;
      // A service still delivered a log after the last page.
      wasFilled += 1;
      if (wasFilled === deliveriesMax) throw new Failure(`bucket ${bucket} keeps being filled`, [again]);
      continue;
    }
    const Objects = objects.slice(0, objectsMax).map(({ Key, VersionId }) => ({ Key, VersionId }));
    const text = JSON.stringify({ Objects, Quiet: true });
    await deleteObjects(aws, text, [
      '--bucket',
      bucket,
      ...(bypasses ? ['--bypass-governance-retention'] : []),
    ]);
    count += Objects.length;
  }
  say(`Deleted bucket ${bucket} and ${count} objects in it`);
};

/** False if it is no longer empty. */
const deleteEmpty = async (aws: Aws, bucket: string): Promise<boolean> => {
  try {
    await aws.find(['NoSuchBucket'], 's3api', 'delete-bucket', '--bucket', bucket);
    return true;
  } catch (error) {
    if (error instanceof Failure && error.message.includes('BucketNotEmpty')) return false;
    throw error;
  }
};

/** In a file: a thousand long names exceed the length of an argument. */
const deleteObjects = async (aws: Aws, text: string, where: readonly string[]): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-destroy-'));
  try {
    const path = join(folder, 'objects.json');
    await writeFile(path, text);
    type Answer = { readonly Errors?: readonly { readonly Code: string; readonly Key: string }[] };
    const answer = await aws.ask<Answer | undefined>(
      ...['s3api', 'delete-objects', ...where, '--delete', `file://${path}`],
    );
    const [refused] = answer?.Errors ?? [];
    // The next listing would have it again.
    if (refused !== undefined)
      throw new Failure(`S3 does not delete ${refused.Key}: ${refused.Code}`, [
        `See why: aws s3api list-object-versions --region ${aws.region} ${where.join(' ')} --prefix ${refused.Key}`,
      ]);
  } finally {
    await rm(folder, { recursive: true });
  }
};

export const deleteTable = async ({ aws, say }: Deleting, table: string): Promise<void> => {
  const missing = ['ResourceNotFoundException'];
  const named = ['--table-name', table] as const;
  const found = await aws.find(
    missing,
    'dynamodb',
    'update-table',
    ...named,
    '--no-deletion-protection-enabled',
  );
  if (found !== undefined) await aws.ask('dynamodb', 'wait', 'table-exists', ...named);
  await aws.find(missing, 'dynamodb', 'delete-table', ...named);
  say(`Deleted table ${table}`);
};

/** At once: otherwise Secrets Manager retains the secret and its name for a month. */
export const deleteSecret = async ({ aws, say }: Deleting, secret: string): Promise<void> => {
  const args = ['--secret-id', secret, '--force-delete-without-recovery'] as const;
  await aws.find(['ResourceNotFoundException'], 'secretsmanager', 'delete-secret', ...args);
  say(`Deleted secret ${secret}`);
};

export type ProjectSecret = {
  readonly arn: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
};

type ListedSecrets = {
  readonly SecretList: readonly { readonly ARN: string; readonly CreatedDate?: string | number }[];
};

/** Secrets of projects belong to no stack: their names begin with the deployment's. */
export const projectSecrets = async (aws: Aws, deployment: string): Promise<readonly ProjectSecret[]> => {
  const filter = `Key=name,Values=sallyport/${deployment}/`;
  const { SecretList } = await aws.ask<ListedSecrets>('secretsmanager', 'list-secrets', '--filters', filter);
  return SecretList.map(({ ARN: arn, CreatedDate: at = Number.POSITIVE_INFINITY }) => ({
    arn,
    createdAt: typeof at === 'number' ? at * 1000 : Date.parse(at),
  }));
};

export const deleteKey = async ({ aws, say }: Deleting, key: string): Promise<void> => {
  const args = ['--key-id', key, '--pending-window-in-days', String(daysOfKeyMin)] as const;
  await aws.find(['NotFoundException', 'KMSInvalidStateException'], 'kms', 'schedule-key-deletion', ...args);
  say(`Key ${key} will be deleted in ${daysOfKeyMin} days, the minimum of AWS`);
};

/** Log groups of the CDK's functions and of API Gateway: they belong to no stack. */
export const deleteLogs = async (
  { aws, say }: Deleting,
  deployment: string,
  { ofType }: Inventory,
): Promise<void> => {
  const apis = ofType('AWS::ApiGateway::RestApi', 'AWS::ApiGatewayV2::Api').map(
    ({ physicalId }) => physicalId,
  );
  const prefixes = [
    // Names of functions begin with that of their stack or the deployment's; another deployment's name may begin like this one's.
    ...stackNames.map((name) => `/aws/lambda/${deployment}-${name}-`),
    ...ofType('AWS::Lambda::Function').map(({ physicalId }) => `/aws/lambda/${physicalId}`),
    ...apis.flatMap((id) => [`API-Gateway-Execution-Logs_${id}/`, `/aws/apigateway/${id}/`]),
  ];
  for (const prefix of prefixes) {
    const { logGroups } = await aws.ask<{ readonly logGroups: readonly { readonly logGroupName: string }[] }>(
      'logs',
      'describe-log-groups',
      '--log-group-name-prefix',
      prefix,
    );
    const isOurs = (name: string): boolean =>
      !prefix.startsWith('/aws/lambda/') || prefix.endsWith('-') || name === prefix;
    for (const { logGroupName } of logGroups.filter((group) => isOurs(group.logGroupName))) {
      await aws.find(
        ['ResourceNotFoundException'],
        'logs',
        'delete-log-group',
        '--log-group-name',
        logGroupName,
      );
      say(`Deleted log group ${logGroupName}`);
    }
  }
};
