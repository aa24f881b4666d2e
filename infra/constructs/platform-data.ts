/**
 * What must outlive every deploy: the table, the checkpoints of workspaces, the secret of the sandboxes, and the
 * key they rest under if it is not AWS's own.
 *
 * Nothing here is deleted with its stack. Everything else can be rebuilt from the repository.
 */
import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import {
  AttributeType,
  Billing,
  type CfnGlobalTable,
  TableEncryptionV2,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type LifecycleRule,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';

export type PlatformDataProps = {
  /** Absent: AWS's own keys, which cost nothing. */
  readonly encryptionKey?: IKey | undefined;
  /** Whether sandboxes of one owner share a volume, whose older versions are then kept. Absent: they do not. */
  readonly hasSharedVolumes?: boolean;
};

const secretCharacters = 64;
/** The least S3 knows. */
const checkpointVersionDays = 1;
/** How long what was overwritten or deleted in a shared volume can be fetched back by hand. */
const sharedVersionDays = 30;

const versionsEnd = (prefix: string, days: number): readonly LifecycleRule[] => [
  { prefix, noncurrentVersionExpiration: Duration.days(days), expiredObjectDeleteMarker: true },
];

export class PlatformData extends Construct {
  readonly table: TableV2;
  /** Checkpoints: `workspaces/<workspace id>/{manifests,packs}/…`; shared volumes: `shared/<owner>/…`. */
  readonly workspaces: Bucket;
  readonly sandboxSecret: Secret;
  readonly encryptionKey: IKey | undefined;

  constructor(
    scope: Construct,
    id: string,
    { encryptionKey, hasSharedVolumes = false }: PlatformDataProps = {},
  ) {
    super(scope, id);
    this.encryptionKey = encryptionKey;
    this.table = this.addTable();
    this.workspaces = this.addWorkspaces(hasSharedVolumes);
    this.sandboxSecret = this.addSandboxSecret();
  }

  private addTable(): TableV2 {
    const table = new TableV2(this, 'Table', {
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
    if (this.encryptionKey !== undefined) encryptUnder(table, this.encryptionKey);
    return table;
  }

  /**
   * Older versions serve shared volumes alone, where the last writer wins: a checkpoint's names are never used
   * twice. The rules stay when the volume is given up, so that its versions end.
   */
  private addWorkspaces(hasSharedVolumes: boolean): Bucket {
    const { encryptionKey } = this;
    const bucket = new Bucket(this, 'Workspaces', {
      // A bucket key: S3 asks KMS once in a while, and not for every pack of a checkpoint.
      ...(encryptionKey === undefined
        ? { encryption: BucketEncryption.S3_MANAGED }
        : { encryption: BucketEncryption.KMS, encryptionKey, bucketKeyEnabled: true }),
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
    const { encryptionKey } = this;
    const secret = new Secret(this, 'SandboxSecret', {
      description: 'Sallyport: bearers of sandboxes are derived from it',
      generateSecretString: { passwordLength: secretCharacters, excludePunctuation: true },
      ...(encryptionKey === undefined ? {} : { encryptionKey }),
      removalPolicy: RemovalPolicy.RETAIN,
    });
    acknowledge(
      secret,
      'SMG4',
      'A new value locks the platform out of every running sandbox. It never leaves two functions, and is changed by hand.',
    );
    return secret;
  }
}

/** `TableV2` wants to know its region for this, and our stacks go to any. */
const encryptUnder = (table: TableV2, { keyArn }: IKey): void =>
  (table.node.defaultChild as CfnGlobalTable).addPropertyOverride('Replicas.0.SSESpecification', {
    KMSMasterKeyId: keyArn,
  });
