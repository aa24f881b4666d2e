/**
 * What functions may do with projects' secrets: the API makes, reads and deletes them, the janitor deletes those of a
 * deleted project, whoever reaches registered servers reads them, and nobody changes or lists one. No right reaches beside the deployment's own prefix.
 */
import { ArnFormat, type Stack } from 'aws-cdk-lib';
import type { Need, Right } from './need.ts';

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
