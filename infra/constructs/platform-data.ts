/**
 * Data that outlives every deploy: the table, the checkpoints of workspaces, and the secret of the sandboxes, encrypted
 * with AWS's own keys or a given one.
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
import { type IKey, Key, KeySpec, KeyUsage } from 'aws-cdk-lib/aws-kms';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type BucketProps,
  type LifecycleRule,
  ObjectLockRetention,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { acknowledge } from './nag-exceptions.ts';

export type PlatformDataProps = {
  /** With it, a key of its own signs the seals of the audit log: a dollar a month. Absent: AWS's own keys, which are free, and no signature. */
  readonly encryptionKey?: IKey | undefined;
  /** Sandboxes of one owner share a volume, and its older versions are retained. Absent: they do not. */
  readonly hasSharedVolumes?: boolean;
  /** Seals are in a bucket of their own, which locks each for so many days. Absent: in that of the checkpoints, without a lock. */
  readonly sealLockDays?: number | undefined;
};

const secretCharacters = 64;
/** S3's minimum. */
const checkpointVersionDays = 1;
/** The time in which an overwritten or deleted file of a shared volume can be restored by hand. */
const sharedVersionDays = 30;

const expireVersions = (prefix: string, days: number): readonly LifecycleRule[] => [
  { prefix, noncurrentVersionExpiration: Duration.days(days), expiredObjectDeleteMarker: true },
];

export class PlatformData extends Construct {
  readonly table: TableV2;
  /** Checkpoints: `workspaces/<workspace id>/{manifests,packs}/…`; shared volumes: `shared/<owner>/…`. */
  readonly workspaces: Bucket;
  readonly sandboxSecret: Secret;
  /** With Object Lock. */
  readonly seals: Bucket | undefined;
  readonly encryptionKey: IKey | undefined;
  /** Signs the seals of the audit log. */
  readonly sealKey: IKey | undefined;

  constructor(
    scope: Construct,
    id: string,
    { encryptionKey, hasSharedVolumes = false, sealLockDays }: PlatformDataProps = {},
  ) {
    super(scope, id);
    this.encryptionKey = encryptionKey;
    this.sealKey = encryptionKey === undefined ? undefined : this.addSealKey();
    this.table = this.addTable();
    this.workspaces = this.addWorkspaces(hasSharedVolumes);
    this.seals = sealLockDays === undefined ? undefined : this.addSeals(sealLockDays);
    this.sandboxSecret = this.addSandboxSecret();
  }

  /** Its private half never leaves KMS; deleted, it would leave seals that can no longer be signed. */
  private addSealKey(): IKey {
    return new Key(this, 'SealKey', {
      description: 'Sallyport: signs the seals of the audit log',
      keySpec: KeySpec.ECC_NIST_P256,
      keyUsage: KeyUsage.SIGN_VERIFY,
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
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
      // A first deploy that rolls back leaves it: its protection would fail the rollback, and an empty table is free.
      removalPolicy: RemovalPolicy.RETAIN,
    });
    if (this.encryptionKey !== undefined) encryptUnder(table, this.encryptionKey);
    return table;
  }

  /**
   * Older versions serve shared volumes alone, where the last writer wins: a checkpoint's names are never reused. The
   * rules remain after the volume is switched off, so that its versions expire.
   */
  private addWorkspaces(hasSharedVolumes: boolean): Bucket {
    const bucket = new Bucket(this, 'Workspaces', {
      ...this.closedBucket(),
      versioned: hasSharedVolumes,
      lifecycleRules: [
        // The link completes or aborts its uploads itself; the rest is useless.
        { abortIncompleteMultipartUploadAfter: Duration.days(1) },
        ...expireVersions('workspaces/', checkpointVersionDays),
        ...expireVersions('shared/', sharedVersionDays),
      ],
    });
    acknowledge(
      bucket,
      'S1',
      'Two functions can reach it, and each checkpoint that they write or delete is a line of their logs.',
    );
    return bucket;
  }

  /** Encrypted, by TLS alone, never public, and not deleted with the stack. */
  private closedBucket(): BucketProps {
    const { encryptionKey } = this;
    return {
      // A bucket key: S3 calls KMS once in a while, and not for every pack of a checkpoint.
      ...(encryptionKey === undefined
        ? { encryption: BucketEncryption.S3_MANAGED }
        : { encryption: BucketEncryption.KMS, encryptionKey, bucketKeyEnabled: true }),
      enforceSSL: true,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    };
  }

  /** A bucket of its own: a lock is for whole buckets, and a checkpoint must be deleted when its session is. */
  private addSeals(lockDays: number): Bucket {
    const bucket = new Bucket(this, 'Seals', {
      ...this.closedBucket(),
      versioned: true,
      objectLockEnabled: true,
      objectLockDefaultRetention: ObjectLockRetention.governance(Duration.days(lockDays)),
    });
    acknowledge(bucket, 'S1', 'One function writes it, once an hour, and each seal is a line of its logs.');
    return bucket;
  }

  /** The bearers of all sandboxes are derived from it; no sandbox sees it. */
  private addSandboxSecret(): Secret {
    const { encryptionKey } = this;
    const secret = new Secret(this, 'SandboxSecret', {
      description: 'Sallyport: bearers of sandboxes are derived from it',
      generateSecretString: { passwordLength: secretCharacters, excludePunctuation: true },
      ...(encryptionKey === undefined ? {} : { encryptionKey }),
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    acknowledge(
      secret,
      'SMG4',
      'A new value locks the platform out of every running sandbox. Only functions that start sandboxes read it; it is changed manually.',
    );
    return secret;
  }
}

/** `TableV2` requires a known region for this, and the stacks are deployed to any. */
const encryptUnder = (table: TableV2, { keyArn }: IKey): void =>
  (table.node.defaultChild as CfnGlobalTable).addPropertyOverride('Replicas.0.SSESpecification', {
    KMSMasterKeyId: keyArn,
  });
