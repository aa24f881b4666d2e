/**
 * Permissions on stored bytes and secrets: the bucket of the workspaces, that of locked seals, and the secrets of projects.
 *
 * Of the bucket only the link reads and writes contents, only the janitor deletes a whole workspace, and no function
 * deletes a version. Of the secrets the API creates, reads and deletes them, the janitor deletes those of a deleted
 * project, the turn, the relay and the janitor read them, and no function changes or lists one. No permission leaves its prefix.
 */

import { ArnFormat, type Stack } from 'aws-cdk-lib';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { env, type Permission, type Statement } from './permission.ts';
import type { PlatformData } from './platform-data.ts';
import { useKey } from './platform-key.ts';

type BucketVariables = { readonly WORKSPACE_BUCKET: string };

const checkpoints = 'workspaces/*';
const sharedVolumes = 'shared/*';
const seals = 'audit/seals/*';

const objectsOf = ({ bucketArn }: IBucket, ...prefixes: readonly string[]): string[] =>
  prefixes.map((prefix) => `${bucketArn}/${prefix}`);

/** The name of the bucket, without access to it. */
export const bucketEnv = ({ bucketName }: IBucket): Permission<BucketVariables> =>
  env({ WORKSPACE_BUCKET: bucketName });

/** To save and to restore. Parts of an upload are put (https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html#mpuAndPermissions). */
export const saveWorkspaces = ({ workspaces, encryptionKey }: PlatformData): Permission<BucketVariables> => ({
  ...bucketEnv(workspaces),
  statements: [
    ...saveStatements(workspaces),
    // S3 uses the key with the caller's role (https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html).
    ...useKey(encryptionKey, { service: 's3', actions: ['Decrypt', 'GenerateDataKey'] }),
  ],
});

export const saveStatements = (bucket: IBucket): readonly Statement[] => [
  {
    actions: ['s3:AbortMultipartUpload', 's3:DeleteObject', 's3:GetObject', 's3:PutObject'],
    resources: objectsOf(bucket, checkpoints, sharedVolumes),
    because: 'Workspaces and owners are created at run time; everything under the prefixes is theirs.',
  },
  {
    // To list a shared volume. Without it a missing key is answered with 403 instead of 404; that request names no prefix.
    actions: ['s3:ListBucket'],
    resources: [bucket.bucketArn],
    conditions: { StringLikeIfExists: { 's3:prefix': [checkpoints, sharedVolumes] } },
  },
];

/** To list and delete everything of a workspace. */
export const deleteWorkspaces = (bucket: IBucket): Permission<BucketVariables> => ({
  ...bucketEnv(bucket),
  statements: [
    {
      actions: ['s3:DeleteObject'],
      resources: objectsOf(bucket, checkpoints),
      because: 'Workspaces are created at run time; everything under the prefix is a checkpoint of one.',
    },
    {
      actions: ['s3:ListBucket'],
      resources: [bucket.bucketArn],
      conditions: { StringLike: { 's3:prefix': checkpoints } },
    },
  ],
});

type SealVariables = { readonly AUDIT_SEAL_KEY?: string; readonly AUDIT_SEAL_BUCKET?: string };

/**
 * To read seals of the audit log, and the key that checks them; `writes`: also to make them, in the bucket that locks them where there is
 * one. Those from before the lock are then only read. A seal is never deleted, and no function may bypass a lock.
 */
export const auditSeals = (
  { workspaces, seals: locked, sealKey, encryptionKey }: PlatformData,
  { writes }: { readonly writes: boolean },
): Permission<SealVariables> => ({
  variables: {
    ...(sealKey !== undefined && { AUDIT_SEAL_KEY: sealKey.keyArn }),
    ...(locked !== undefined && { AUDIT_SEAL_BUCKET: locked.bucketName }),
  },
  statements: [
    ...sealStatements(workspaces, writes && locked === undefined),
    ...(locked === undefined ? [] : sealStatements(locked, writes)),
    ...(sealKey === undefined
      ? []
      : [{ actions: ['kms:GetPublicKey', ...(writes ? ['kms:Sign'] : [])], resources: [sealKey.keyArn] }]),
    ...useKey(encryptionKey, { service: 's3', actions: ['Decrypt', ...(writes ? ['GenerateDataKey'] : [])] }),
  ],
});

const sealStatements = (bucket: IBucket, writes: boolean): readonly Statement[] => [
  {
    actions: writes ? ['s3:GetObject', 's3:PutObject'] : ['s3:GetObject'],
    resources: objectsOf(bucket, seals),
    because: 'Seals are made at run time; everything under the prefix is one.',
  },
  {
    // Without it a missing seal is answered with 403 instead of 404.
    actions: ['s3:ListBucket'],
    resources: [bucket.bucketArn],
    conditions: { StringLikeIfExists: { 's3:prefix': [seals] } },
  },
];

type PrefixVariables = { readonly PROJECT_SECRETS_PREFIX: string };
type KeyVariables = { readonly PROJECT_SECRETS_KEY?: string };

type ProjectSecrets = {
  readonly deployment: string;
  /** The key that encrypts them; absent: the one that AWS manages. */
  readonly keyArn?: string | undefined;
};

const prefixOf = ({ deployment }: ProjectSecrets): string => `sallyport/${deployment}/`;

export const projectSecretPermissions = (stack: Stack, secrets: ProjectSecrets) => {
  const named: PrefixVariables = { PROJECT_SECRETS_PREFIX: prefixOf(secrets) };
  const keyed: KeyVariables = secrets.keyArn === undefined ? {} : { PROJECT_SECRETS_KEY: secrets.keyArn };
  const on = (actions: Actions): readonly Statement[] => secretStatements(stack, secrets, actions);
  return {
    read: { variables: named, statements: on({ secret: ['GetSecretValue'], key: ['Decrypt'] }) },
    /** To read them, and to delete all those of a deleted project. */
    delete: {
      variables: named,
      statements: on({ secret: ['DeleteSecret', 'GetSecretValue'], key: ['Decrypt'] }),
    },
    manage: {
      variables: { ...named, ...keyed },
      statements: on({
        secret: ['CreateSecret', 'DeleteSecret', 'GetSecretValue'],
        key: ['Decrypt', 'GenerateDataKey'],
      }),
    },
  };
};

type Actions = { readonly secret: readonly string[]; readonly key: readonly string[] };

/** Secrets Manager uses a key with the caller's role (https://docs.aws.amazon.com/secretsmanager/latest/userguide/security-encryption.html). */
const secretStatements = (stack: Stack, secrets: ProjectSecrets, actions: Actions): readonly Statement[] => {
  const arns = stack.formatArn({
    service: 'secretsmanager',
    resource: 'secret',
    resourceName: `${prefixOf(secrets)}*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  const onSecrets: Statement = {
    actions: actions.secret.map((action) => `secretsmanager:${action}`),
    resources: [arns],
    because: 'Projects are created at run time; everything under the prefix is the secrets of one.',
  };
  const { keyArn: key } = secrets;
  if (key === undefined) return [onSecrets];
  return [
    onSecrets,
    {
      actions: actions.key.map((action) => `kms:${action}`),
      resources: [key],
      conditions: {
        StringEquals: { 'kms:ViaService': `secretsmanager.${stack.region}.amazonaws.com` },
        // Secrets Manager may try the key before the secret has an ARN.
        StringLike: { 'kms:EncryptionContext:SecretARN': [arns, 'RequestToValidateKeyAccess'] },
      },
    },
  ];
};
