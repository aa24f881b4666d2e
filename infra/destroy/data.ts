/**
 * The end of what the stacks keep when they are deleted: the table, the buckets with every version in them, secrets,
 * the key, and logs that services made by themselves.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Aws } from '../deploy/aws.ts';
import type { Inventory } from './inventory.ts';

type Deleting = { readonly aws: Aws; readonly say: (line: string) => void };

/** Each page that is read is deleted before the next: S3 takes so many at once. */
const objectsMax = 1000;
const daysOfKeyMin = 7;

type Version = { readonly Key: string; readonly VersionId: string };

export const deleteBucket = async ({ aws, say }: Deleting, bucket: string): Promise<void> => {
  let count = 0;
  for (;;) {
    const args = ['--bucket', bucket, '--max-items', String(objectsMax)] as const;
    const page = await aws.find<{
      readonly Versions?: readonly Version[];
      readonly DeleteMarkers?: readonly Version[];
    }>(['NoSuchBucket'], 's3api', 'list-object-versions', ...args);
    const objects = [...(page?.Versions ?? []), ...(page?.DeleteMarkers ?? [])];
    if (objects.length === 0) break;
    const Objects = objects.slice(0, objectsMax).map(({ Key, VersionId }) => ({ Key, VersionId }));
    await deleteObjects(aws, bucket, JSON.stringify({ Objects, Quiet: true }));
    count += Objects.length;
  }
  await aws.find(['NoSuchBucket'], 's3api', 'delete-bucket', '--bucket', bucket);
  say(`Deleted bucket ${bucket} and ${count} objects in it`);
};

/** A thousand long names are more than an argument may hold. */
const deleteObjects = async (aws: Aws, bucket: string, text: string): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-destroy-'));
  try {
    const path = join(folder, 'objects.json');
    await writeFile(path, text);
    await aws.ask('s3api', 'delete-objects', '--bucket', bucket, '--delete', `file://${path}`);
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

/** At once: without that Secrets Manager keeps one for a month, and its name with it. */
export const deleteSecret = async ({ aws, say }: Deleting, secret: string): Promise<void> => {
  const args = ['--secret-id', secret, '--force-delete-without-recovery'] as const;
  await aws.find(['ResourceNotFoundException'], 'secretsmanager', 'delete-secret', ...args);
  say(`Deleted secret ${secret}`);
};

export const projectSecrets = async (aws: Aws, deployment: string): Promise<readonly string[]> => {
  const filter = `Key=name,Values=sallyport/${deployment}/`;
  const { SecretList } = await aws.ask<{ readonly SecretList: readonly { readonly ARN: string }[] }>(
    'secretsmanager',
    'list-secrets',
    '--filters',
    filter,
  );
  return SecretList.map(({ ARN }) => ARN);
};

export const endKey = async ({ aws, say }: Deleting, key: string): Promise<void> => {
  const args = ['--key-id', key, '--pending-window-in-days', String(daysOfKeyMin)] as const;
  await aws.find(['NotFoundException', 'KMSInvalidStateException'], 'kms', 'schedule-key-deletion', ...args);
  say(`Key ${key} is deleted in ${daysOfKeyMin} days: AWS takes no less`);
};

/** Of functions that the CDK adds, and of API Gateway: they belong to no stack. */
export const deleteLogs = async (
  { aws, say }: Deleting,
  deployment: string,
  { ofType }: Inventory,
): Promise<void> => {
  const apis = ofType('AWS::ApiGateway::RestApi', 'AWS::ApiGatewayV2::Api').map(
    ({ physicalId }) => physicalId,
  );
  const prefixes = [
    `/aws/lambda/${deployment}-`,
    ...apis.flatMap((id) => [`API-Gateway-Execution-Logs_${id}/`, `/aws/apigateway/${id}/`]),
  ];
  for (const prefix of prefixes) {
    const { logGroups } = await aws.ask<{ readonly logGroups: readonly { readonly logGroupName: string }[] }>(
      'logs',
      'describe-log-groups',
      '--log-group-name-prefix',
      prefix,
    );
    for (const { logGroupName } of logGroups) {
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
