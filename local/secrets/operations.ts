/** The operations of Secrets Manager, in the shapes of its API reference. */
import type {
  CreateSecretCommandInput,
  DeleteSecretCommandInput,
  GetSecretValueCommandInput,
} from '@aws-sdk/client-secrets-manager';
import { AwsError } from '../endpoint/aws-error.ts';
import type { SecretRegistry, StoredSecret } from './secret-registry.ts';

/** The input is the request's JSON, as the SDK wrote it. */
export type Operation = (registry: SecretRegistry, input: Input) => unknown;

type Input = CreateSecretCommandInput & GetSecretValueCommandInput & DeleteSecretCommandInput;

/** https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_CreateSecret.html */
const nameSyntax = /^[A-Za-z0-9/_+=.@-]{1,512}$/;
const tokenSyntax = /^.{32,64}$/;
const textBytesMax = 65_536;

const refusal = (name: string, message: string): AwsError => new AwsError(400, name, { message });
const notFound = (): AwsError =>
  refusal('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");

const createSecret = async (
  registry: SecretRegistry,
  { Name = '', SecretString, ClientRequestToken }: CreateSecretCommandInput,
) => {
  if (!nameSyntax.test(Name)) throw refusal('ValidationException', 'Invalid name.');
  if (ClientRequestToken !== undefined && !tokenSyntax.test(ClientRequestToken))
    throw refusal('ValidationException', 'Invalid ClientRequestToken.');
  if (SecretString === undefined || SecretString === '')
    throw refusal('InvalidParameterException', 'Only secrets with a SecretString are implemented here.');
  if (Buffer.byteLength(SecretString) > textBytesMax)
    throw refusal('ValidationException', `SecretString has more than ${textBytesMax} bytes.`);
  const existing = registry.existing(Name);
  // Created before with the same token: a retry gets the first answer.
  if (existing?.versionId === ClientRequestToken && existing?.text === SecretString)
    return summaryOf(existing);
  if (existing !== undefined)
    throw refusal('ResourceExistsException', 'The operation failed because the secret already exists.');
  if (registry.isBeingDeleted(Name))
    throw refusal(
      'InvalidRequestException',
      "You can't create this secret because a secret with this name is already scheduled for deletion.",
    );
  return summaryOf(await registry.create(Name, SecretString, ClientRequestToken));
};

const getSecretValue = (
  registry: SecretRegistry,
  { SecretId = '', VersionId, VersionStage = 'AWSCURRENT' }: GetSecretValueCommandInput,
) => {
  const secret = registry.find(SecretId);
  if (secret === undefined) throw notFound();
  if (VersionStage !== 'AWSCURRENT' || (VersionId !== undefined && VersionId !== secret.versionId))
    throw notFound();
  return {
    ...summaryOf(secret),
    SecretString: secret.text,
    VersionStages: ['AWSCURRENT'],
    CreatedDate: secret.createdAt / 1000,
  };
};

/** A forced deletion of a missing secret succeeds; its ARN is then not known. */
const deleteSecret = async (
  registry: SecretRegistry,
  { SecretId = '', ForceDeleteWithoutRecovery }: DeleteSecretCommandInput,
) => {
  if (ForceDeleteWithoutRecovery !== true)
    throw refusal('InvalidParameterException', 'Only ForceDeleteWithoutRecovery is implemented here.');
  const secret = registry.existing(SecretId) ?? registry.find(SecretId);
  if (secret !== undefined) await registry.remove(secret);
  const { ARN, Name } = secret === undefined ? { ARN: SecretId, Name: SecretId } : summaryOf(secret);
  return { ARN, Name, DeletionDate: Date.now() / 1000 };
};

const summaryOf = ({ arn, name, versionId }: StoredSecret) => ({
  ARN: arn,
  Name: name,
  VersionId: versionId,
});

export const operations: Readonly<Record<string, Operation>> = {
  CreateSecret: createSecret,
  GetSecretValue: getSecretValue,
  DeleteSecret: deleteSecret,
};
