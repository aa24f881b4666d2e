/**
 * What must outlive every deploy: the table, the checkpoints of workspaces, the secret of the sandboxes, the
 * account's role for API logs.
 *
 * Nothing here is deleted with the stack. Everything else can be rebuilt from the repository.
 */
import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { CfnAccount } from 'aws-cdk-lib/aws-apigateway';
import { AttributeType, Billing, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type LifecycleRule,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { acknowledge } from '../constructs/acknowledge.ts';
import { type Settings, sharedGuestPathOf } from '../settings.ts';

const secretCharacters = 64;
/** The least S3 knows. */
const checkpointVersionDays = 1;
/** How long what was overwritten or deleted in a shared volume can be fetched back by hand. */
const sharedVersionDays = 30;

const versionsEnd = (prefix: string, days: number): readonly LifecycleRule[] => [
  { prefix, noncurrentVersionExpiration: Duration.days(days), expiredObjectDeleteMarker: true },
];

export class DataStack extends Stack {
  readonly table: TableV2;
  /** Checkpoints: `workspaces/<workspace id>/{manifests,packs}/…`; shared volumes: `shared/<owner>/…`. */
  readonly workspaces: Bucket;
  readonly sandboxSecret: Secret;

  constructor(scope: Construct, id: string, { settings }: { readonly settings: Settings }) {
    super(scope, id, { description: 'Sallyport: the table and what else is kept' });
    this.table = this.addTable();
    this.workspaces = this.addWorkspaces(sharedGuestPathOf(settings) !== undefined);
    this.sandboxSecret = this.addSandboxSecret();
    if (settings.ownsApiLogRole) this.addApiLogRole();
  }

  private addTable(): TableV2 {
    return new TableV2(this, 'Table', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      globalSecondaryIndexes: [
        {
          indexName: 'due',
          partitionKey: { name: 'duePk', type: AttributeType.STRING },
          sortKey: { name: 'dueAt', type: AttributeType.NUMBER },
        },
        {
          indexName: 'owner',
          partitionKey: { name: 'ownerPk', type: AttributeType.STRING },
          sortKey: { name: 'ownerSk', type: AttributeType.STRING },
        },
      ],
      billing: Billing.onDemand(),
      encryption: TableEncryptionV2.awsManagedKey(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      timeToLiveAttribute: 'ttl',
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
  }

  /**
   * Older versions serve shared volumes alone, where the last writer wins: a checkpoint's names are never used
   * twice. The rules stay when the volume is given up, so that its versions end.
   */
  private addWorkspaces(hasSharedVolumes: boolean): Bucket {
    const bucket = new Bucket(this, 'Workspaces', {
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      versioned: hasSharedVolumes,
      lifecycleRules: [
        // The link ends its uploads itself; what it could not end is of no use to anybody.
        { abortIncompleteMultipartUploadAfter: Duration.days(1) },
        ...versionsEnd('workspaces/', checkpointVersionDays),
        ...versionsEnd('shared/', sharedVersionDays),
      ],
      removalPolicy: RemovalPolicy.RETAIN,
    });
    acknowledge(
      bucket,
      'S1',
      'Two functions can reach it, and each checkpoint they make or delete is a line of their own logs.',
    );
    return bucket;
  }

  /** The bearers of all sandboxes are derived from it; no sandbox ever sees it. */
  private addSandboxSecret(): Secret {
    const secret = new Secret(this, 'SandboxSecret', {
      description: 'Sallyport: bearers of sandboxes are derived from it',
      generateSecretString: { passwordLength: secretCharacters, excludePunctuation: true },
      removalPolicy: RemovalPolicy.RETAIN,
    });
    acknowledge(
      secret,
      'SMG4',
      'A new value locks the platform out of every running sandbox. It never leaves two functions, and is changed by hand.',
    );
    return secret;
  }

  /** API Gateway writes logs by one role per account and region (https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html). */
  private addApiLogRole(): void {
    const role = new Role(this, 'ApiLogRole', {
      assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
      managedPolicies: [
        ManagedPolicy.fromAwsManagedPolicyName('service-role/AmazonAPIGatewayPushToCloudWatchLogs'),
      ],
    });
    role.applyRemovalPolicy(RemovalPolicy.RETAIN);
    acknowledge(
      role,
      'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
      'API Gateway asks for this policy by name; it may only write logs.',
    );
    new CfnAccount(this, 'ApiAccount', { cloudWatchRoleArn: role.roleArn }).applyRemovalPolicy(
      RemovalPolicy.RETAIN,
    );
  }
}
