/** The data of a deployment as its stacks name it, and clients of its services with the credentials of the person. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Settings } from '../../infra/settings.ts';
import type { Target } from '../deploy/command.ts';
import { type Inventory, takeInventory } from '../deploy/inventory.ts';
import { Failure } from '../deploy/programs.ts';
import type { Services } from './data-copy.ts';

export type DeploymentData = {
  readonly inventory: Inventory;
  readonly table: string;
  readonly bucket: string;
  /** That locks the seals of the audit log; absent: the deployment has none. */
  readonly sealBucket?: string;
  readonly sandboxSecret: string;
  /** The key of projects' secrets; absent: the one that AWS manages. */
  readonly secretsKey?: string;
};

export const findData = async (target: Target): Promise<DeploymentData> => {
  const { settings, account, region } = target;
  const inventory = await takeInventory(target);
  const ids = (...types: readonly string[]): readonly string[] =>
    inventory.ofType(...types).map(({ physicalId }) => physicalId);
  const [table] = ids('AWS::DynamoDB::GlobalTable', 'AWS::DynamoDB::Table');
  const bucketNamed = (start: string): string | undefined =>
    inventory.ofType('AWS::S3::Bucket').find(({ id }) => id.startsWith(start))?.physicalId;
  const [bucket, sealBucket] = [bucketNamed('Workspaces'), bucketNamed('Seals')];
  const sandboxSecret = ids('AWS::SecretsManager::Secret').find((arn) => arn.includes('SandboxSecret'));
  if (table === undefined || bucket === undefined || sandboxSecret === undefined)
    throw new Failure(`there is no deployment ${settings.deployment} in account ${account}, ${region}`, [
      'Choose another: --stage <name> and --region <region>.',
    ]);
  const secretsKey = secretsKeyOf(settings, inventory);
  return {
    ...{ inventory, table, bucket, sandboxSecret },
    ...(sealBucket !== undefined && { sealBucket }),
    ...(secretsKey !== undefined && { secretsKey }),
  };
};

/** As `infra/constructs/permission-catalog.ts` names it to the function that creates them. */
const secretsKeyOf = (
  { projectSecretsKeyArn, encryption }: Settings,
  { ofType }: Inventory,
): string | undefined => {
  if (projectSecretsKeyArn !== undefined) return projectSecretsKeyArn;
  if (encryption === 'aws-managed') return undefined;
  if (encryption !== 'customer-managed') return encryption.keyArn;
  // The other key of the data stack signs seals.
  return ofType('AWS::KMS::Key').find(({ id }) => id.startsWith('Encryption'))?.physicalId;
};

export const openServices = (region: string): Services => ({
  dynamoDb: new DynamoDBClient({ region }),
  s3: new S3Client({ region }),
  secretsManager: new SecretsManagerClient({ region }),
});
