/**
 * Bundles of secrets in Secrets Manager: each is made whole under a name of its own, read, and deleted for good.
 * None is ever changed, so no version of it retains a value that a person has removed.
 *
 * The service promises no order between a write and the next read: "an eventual consistency model"
 * (https://docs.aws.amazon.com/secretsmanager/latest/userguide/troubleshoot.html), so a bundle that is not found
 * may still appear. Its errors are passed on without their texts, which may repeat the secrets.
 */
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { decodeJson } from '#shared/contracts/decode.ts';
import { sealedSecrets } from '#shared/contracts/stored/project-records.ts';
import type { Secrets } from '#shared/domain/project.ts';
import { AppError } from '#shared/errors.ts';

export type SecretBundles = {
  readonly create: (name: string, secrets: Secrets) => Promise<void>;
  /** Undefined when it does not exist, or not yet. */
  readonly find: (name: string) => Promise<Secrets | undefined>;
  /**
   * True when nothing had this name; then an empty bundle has it. Names are unique, so this is sure where `find` is not. False for
   * a bundle that is there or is being deleted.
   */
  readonly claim: (name: string) => Promise<boolean>;
  /** A bundle that does not exist is no failure. */
  readonly remove: (name: string) => Promise<void>;
};

export type BundleSettings = {
  /** Opened on first use: most projects have no secrets. */
  readonly openClient: () => Promise<SecretsManagerClient>;
  /** ARN of a customer managed key; absent: `aws/secretsmanager`. */
  readonly keyArn?: string | undefined;
};

const attemptsMax = 4;
const connectMsMax = 2000;
const answerMsMax = 4000;

export const openSecretsClient = async (): Promise<SecretsManagerClient> => {
  const { SecretsManagerClient: Client } = await import('@aws-sdk/client-secrets-manager');
  return new Client({
    maxAttempts: attemptsMax,
    requestHandler: { connectionTimeout: connectMsMax, requestTimeout: answerMsMax },
  });
};

export const makeSecretBundles = ({ openClient, keyArn }: BundleSettings): SecretBundles => {
  let opened: Promise<SecretsManagerClient> | undefined;
  const sdk = async () => {
    opened ??= openClient();
    return { client: await opened, ...(await import('@aws-sdk/client-secrets-manager')) };
  };
  const create = async (Name: string, secrets: Secrets): Promise<void> => {
    const { client, CreateSecretCommand } = await sdk();
    await client.send(
      new CreateSecretCommand({
        Name,
        Description: 'Sallyport: the secrets of one project, by name',
        SecretString: JSON.stringify(secrets),
        ...(keyArn === undefined ? {} : { KmsKeyId: keyArn }),
      }),
    );
  };
  return {
    create: (name, secrets) => reached('store', () => create(name, secrets)),
    claim: (name) =>
      reached('store', async () => {
        const { ResourceExistsException } = await sdk();
        try {
          await create(name, {});
          return true;
        } catch (error) {
          if (error instanceof ResourceExistsException || isBeingDeleted(error)) return false;
          throw error;
        }
      }),
    find: (SecretId) =>
      reached('read', async () => {
        const { client, GetSecretValueCommand, ResourceNotFoundException } = await sdk();
        try {
          const { SecretString = '' } = await client.send(new GetSecretValueCommand({ SecretId }));
          return unsealed(SecretString);
        } catch (error) {
          if (error instanceof ResourceNotFoundException || isBeingDeleted(error)) return undefined;
          throw error;
        }
      }),
    remove: (SecretId) =>
      reached('delete', async () => {
        const { client, DeleteSecretCommand } = await sdk();
        await client.send(new DeleteSecretCommand({ SecretId, ForceDeleteWithoutRecovery: true }));
      }),
  };
};

const unsealed = (text: string): Secrets => {
  const decoded = decodeJson(sealedSecrets(), text);
  if (decoded.ok) return decoded.value;
  throw new Error(`a bundle of secrets has an unknown shape: ${decoded.problem}`);
};

/** Between a deletion and its end (https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html#API_GetSecretValue_Errors). */
const isBeingDeleted = (error: unknown): boolean =>
  error instanceof Error && error.name === 'InvalidRequestException';

const reached = async <T>(deed: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    const reason = error instanceof Error ? error.name : 'unknown';
    throw new AppError('internal_error', `could not ${deed} the secrets of a project`, {
      context: { reason },
      suggestions: ['Try again in a moment.'],
      recoveryActions: ['wait_and_retry'],
    });
  }
};
