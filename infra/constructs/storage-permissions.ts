/**
 * What functions may do with the bucket of the checkpoints: only the link touches contents, and only the
 * janitor deletes a whole workspace. Checkpoints and shared volumes lie under one prefix each, no right
 * reaches beside them, and nobody may delete a version.
 */

import { ArnFormat, type Stack } from 'aws-cdk-lib';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { knowing, type Need, type Right } from './permission.ts';
import type { PlatformData } from './platform-data.ts';
import { usingKey } from './platform-key.ts';

type BucketVariables = { readonly WORKSPACE_BUCKET: string };

const checkpoints = 'workspaces/*';
const sharedVolumes = 'shared/*';

const objectsOf = ({ bucketArn }: IBucket, ...prefixes: readonly string[]): string[] =>
  prefixes.map((prefix) => `${bucketArn}/${prefix}`);

/** To know the bucket, without a right. */
export const knowingWorkspaces = ({ bucketName }: IBucket): Need<BucketVariables> =>
  knowing({ WORKSPACE_BUCKET: bucketName });

/** To save and to restore. Parts of an upload are put (https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html#mpuAndPermissions). */
export const savingWorkspaces = ({ workspaces, encryptionKey }: PlatformData): Need<BucketVariables> => ({
  ...knowingWorkspaces(workspaces),
  statements: [
    ...savingRights(workspaces),
    // S3 uses the key in the caller's name (https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html).
    ...usingKey(encryptionKey, { service: 's3', actions: ['Decrypt', 'GenerateDataKey'] }),
  ],
});

export const savingRights = (bucket: IBucket): readonly Right[] => [
  {
    actions: ['s3:AbortMultipartUpload', 's3:DeleteObject', 's3:GetObject', 's3:PutObject'],
    resources: objectsOf(bucket, checkpoints, sharedVolumes),
    because: 'Workspaces and owners come and go; everything under the prefixes is theirs.',
  },
  {
    // To list a shared volume. Without it a missing key is answered with 403, as if it were forbidden; and that question names no prefix.
    actions: ['s3:ListBucket'],
    resources: [bucket.bucketArn],
    conditions: { StringLikeIfExists: { 's3:prefix': [checkpoints, sharedVolumes] } },
  },
];

/** To find everything of a workspace, and to delete it: the janitor's. */
export const forgettingWorkspaces = (bucket: IBucket): Need<BucketVariables> => ({
  ...knowingWorkspaces(bucket),
  statements: [
    {
      actions: ['s3:DeleteObject'],
      resources: objectsOf(bucket, checkpoints),
      because: 'Workspaces come and go; everything under the prefix is a checkpoint of one.',
    },
    {
      actions: ['s3:ListBucket'],
      resources: [bucket.bucketArn],
      conditions: { StringLike: { 's3:prefix': checkpoints } },
    },
  ],
});

/**
 * What functions may do with projects' secrets: the API makes, reads and deletes them, the janitor deletes those of a
 * deleted project, whoever reaches registered servers reads them, and nobody changes or lists one. No right reaches beside the deployment's own prefix.
 */
type PrefixVariables = { readonly PROJECT_SECRETS_PREFIX: string };
type KeyVariables = { readonly PROJECT_SECRETS_KEY?: string };

export type ProjectSecrets = {
  readonly deployment: string;
  /** What they are encrypted under; absent: the key that AWS manages. */
  readonly keyArn?: string | undefined;
};

const prefixOf = ({ deployment }: ProjectSecrets): string => `sallyport/${deployment}/`;

export const readingProjectSecrets = (stack: Stack, secrets: ProjectSecrets): Need<PrefixVariables> => ({
  variables: { PROJECT_SECRETS_PREFIX: prefixOf(secrets) },
  statements: rights(stack, secrets, { secret: ['GetSecretValue'], key: ['Decrypt'] }),
});

/** To read them, and to delete all of a project that is gone. */
export const clearingProjectSecrets = (stack: Stack, secrets: ProjectSecrets): Need<PrefixVariables> => ({
  variables: { PROJECT_SECRETS_PREFIX: prefixOf(secrets) },
  statements: rights(stack, secrets, { secret: ['DeleteSecret', 'GetSecretValue'], key: ['Decrypt'] }),
});

export const keepingProjectSecrets = (
  stack: Stack,
  secrets: ProjectSecrets,
): Need<PrefixVariables & KeyVariables> => ({
  variables: {
    PROJECT_SECRETS_PREFIX: prefixOf(secrets),
    ...(secrets.keyArn === undefined ? {} : { PROJECT_SECRETS_KEY: secrets.keyArn }),
  },
  statements: rights(stack, secrets, {
    secret: ['CreateSecret', 'DeleteSecret', 'GetSecretValue'],
    key: ['Decrypt', 'GenerateDataKey'],
  }),
});

type Actions = { readonly secret: readonly string[]; readonly key: readonly string[] };

/** Secrets Manager uses a key in the caller's name (https://docs.aws.amazon.com/secretsmanager/latest/userguide/security-encryption.html). */
const rights = (stack: Stack, secrets: ProjectSecrets, actions: Actions): readonly Right[] => {
  const arns = stack.formatArn({
    service: 'secretsmanager',
    resource: 'secret',
    resourceName: `${prefixOf(secrets)}*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  const onSecrets: Right = {
    actions: actions.secret.map((action) => `secretsmanager:${action}`),
    resources: [arns],
    because: 'Projects come and go; everything under the prefix is the secrets of one.',
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
        ArnLike: { 'kms:EncryptionContext:SecretARN': arns },
      },
    },
  ];
};
