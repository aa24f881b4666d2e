import { describe, expect, test } from 'vitest';
import { named, ofType, synthesise } from './synthesise.ts';

const { data } = synthesise();
const table = named(data, 'AWS::DynamoDB::GlobalTable', 'Table');

test('the table has the keys and indexes of the stores', () => {
  const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes } = table.Properties;
  const key = (hash: string, range: string) => [
    { AttributeName: hash, KeyType: 'HASH' },
    { AttributeName: range, KeyType: 'RANGE' },
  ];
  expect(KeySchema).toEqual(key('pk', 'sk'));
  expect(GlobalSecondaryIndexes).toEqual([
    { IndexName: 'due', KeySchema: key('duePk', 'dueAt'), Projection: { ProjectionType: 'ALL' } },
    { IndexName: 'owner', KeySchema: key('ownerPk', 'ownerSk'), Projection: { ProjectionType: 'ALL' } },
  ]);
  expect(AttributeDefinitions).toEqual([
    { AttributeName: 'pk', AttributeType: 'S' },
    { AttributeName: 'sk', AttributeType: 'S' },
    { AttributeName: 'duePk', AttributeType: 'S' },
    { AttributeName: 'dueAt', AttributeType: 'N' },
    { AttributeName: 'ownerPk', AttributeType: 'S' },
    { AttributeName: 'ownerSk', AttributeType: 'S' },
  ]);
});

test('the table is billed by request, encrypted, restorable, and expires items by ttl', () => {
  const { BillingMode, SSESpecification, TimeToLiveSpecification, Replicas } = table.Properties;
  expect({ BillingMode, SSESpecification, TimeToLiveSpecification, Replicas }).toMatchObject({
    BillingMode: 'PAY_PER_REQUEST',
    SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
    TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
    Replicas: [{ PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } }],
  });
});

test('neither a deploy nor the deletion of the stack deletes data', () => {
  expect(table.DeletionPolicy).toBe('Retain');
  expect(table.Properties.Replicas[0].DeletionProtectionEnabled).toBe(true);
  expect(named(data, 'AWS::SecretsManager::Secret', 'SandboxSecret').DeletionPolicy).toBe(
    'RetainExceptOnCreate',
  );
});

describe('the bucket of the checkpoints', () => {
  const bucket = named(data, 'AWS::S3::Bucket', 'Workspaces');

  test('is encrypted, blocks all public access, and survives the stack', () => {
    const { BucketEncryption, PublicAccessBlockConfiguration, OwnershipControls } = bucket.Properties;
    expect({ BucketEncryption, PublicAccessBlockConfiguration, OwnershipControls }).toEqual({
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
      },
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
    });
    // A first deploy that rolls back leaves none behind, and the next one makes none beside it.
    expect(bucket.DeletionPolicy).toBe('RetainExceptOnCreate');
  });

  const lifecycle = {
    Rules: [
      { AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 }, Status: 'Enabled' },
      {
        ExpiredObjectDeleteMarker: true,
        NoncurrentVersionExpiration: { NoncurrentDays: 1 },
        Prefix: 'workspaces/',
        Status: 'Enabled',
      },
      {
        ExpiredObjectDeleteMarker: true,
        NoncurrentVersionExpiration: { NoncurrentDays: 30 },
        Prefix: 'shared/',
        Status: 'Enabled',
      },
    ],
  };

  test('keeps no older versions and no unfinished upload, so that an idle one costs only its content', () => {
    const { VersioningConfiguration, LifecycleConfiguration } = bucket.Properties;
    expect(VersioningConfiguration).toBeUndefined();
    expect(LifecycleConfiguration).toEqual(lifecycle);
  });

  test('retains overwritten files of a shared volume for a month, if there are such volumes', () => {
    const shared = synthesise({ settings: { variables: { MSB_SHARED_VOLUME_PATH: 'on' } } });
    const { VersioningConfiguration, LifecycleConfiguration } = named(
      shared.data,
      'AWS::S3::Bucket',
      'Workspaces',
    ).Properties;
    expect(VersioningConfiguration).toEqual({ Status: 'Enabled' });
    expect(LifecycleConfiguration).toEqual(lifecycle);
  });

  test('requires TLS, and its policy allows no principal', () => {
    const { PolicyDocument } = named(data, 'AWS::S3::BucketPolicy', 'Workspaces').Properties;
    expect(PolicyDocument.Statement).toMatchObject([
      {
        Action: 's3:*',
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
        Effect: 'Deny',
        Principal: { AWS: '*' },
      },
    ]);
  });
});

describe('the bucket of the seals', () => {
  const settings = { seals: { objectLockDays: 90 } };
  const locked = synthesise({ settings });
  const bucket = named(locked.data, 'AWS::S3::Bucket', 'Seals');
  type Allowed = {
    readonly Effect: string;
    readonly Action: string | readonly string[];
    readonly Resource: unknown;
  };

  test('keeps every version for its days under governance, and is closed as the other', () => {
    const { Properties: closed } = named(locked.data, 'AWS::S3::Bucket', 'Workspaces');
    expect(bucket.Properties).toMatchObject({
      VersioningConfiguration: { Status: 'Enabled' },
      ObjectLockEnabled: true,
      ObjectLockConfiguration: {
        ObjectLockEnabled: 'Enabled',
        Rule: { DefaultRetention: { Mode: 'GOVERNANCE', Days: 90 } },
      },
      BucketEncryption: closed.BucketEncryption,
      PublicAccessBlockConfiguration: closed.PublicAccessBlockConfiguration,
      OwnershipControls: closed.OwnershipControls,
    });
    expect(bucket.DeletionPolicy).toBe('RetainExceptOnCreate');
    expect(Reflect.get(bucket, 'UpdateReplacePolicy')).toBe('Retain');
    const { PolicyDocument } = named(locked.data, 'AWS::S3::BucketPolicy', 'Seals').Properties;
    expect(PolicyDocument.Statement).toMatchObject([
      { Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
    ]);
  });

  test('is written by the janitor and read by the API, and no role may delete in it or bypass its lock', () => {
    const allowed = ofType(locked.compute, 'AWS::IAM::Policy').flatMap(({ Properties }) =>
      (Properties.PolicyDocument.Statement as readonly Allowed[])
        .filter(({ Resource }) => JSON.stringify(Resource).includes('Seals'))
        .map(({ Effect, Action }) => [
          /^Functions(\w+)Role/.exec(Properties.Roles[0].Ref)?.[1],
          Effect,
          Action,
        ]),
    );
    expect(allowed.toSorted()).toEqual([
      ['api', 'Allow', 's3:GetObject'],
      ['api', 'Allow', 's3:ListBucket'],
      ['janitor', 'Allow', ['s3:GetObject', 's3:PutObject']],
      ['janitor', 'Allow', 's3:ListBucket'],
    ]);
    const all = JSON.stringify([locked.data, locked.compute, locked.edge, locked.network]);
    expect(all).not.toMatch(
      /BypassGovernanceRetention|PutObjectRetention|PutBucketObjectLock|DeleteObjectVersion/,
    );
  });

  test('is named to both functions, and makes the other bucket one to read for the janitor', () => {
    const variables = (name: string) =>
      named(locked.compute, 'AWS::Lambda::Function', `Functions${name}`).Properties.Environment.Variables;
    expect(variables('janitor').AUDIT_SEAL_BUCKET).toBeDefined();
    expect(variables('api').AUDIT_SEAL_BUCKET).toEqual(variables('janitor').AUDIT_SEAL_BUCKET);
    const writes = ofType(locked.compute, 'AWS::IAM::Policy').flatMap(({ Properties }) =>
      (Properties.PolicyDocument.Statement as readonly Allowed[]).filter(
        ({ Action, Resource }) =>
          [Action].flat().includes('s3:PutObject') && JSON.stringify(Resource).includes('audit/seals'),
      ),
    );
    expect(writes.map(({ Resource }) => JSON.stringify(Resource))).toEqual([
      expect.stringContaining('Seals'),
    ]);
  });

  test('is there only where a stage asks for it, and for whole days alone', () => {
    expect(ofType(data, 'AWS::S3::Bucket')).toHaveLength(1);
    for (const objectLockDays of [0, 1.5, 36_501])
      expect(() => synthesise({ settings: { seals: { objectLockDays } } })).toThrow(
        `seals.objectLockDays is ${objectLockDays}, and not a whole number of days from 1 to 36500`,
      );
  });
});

const keyArn = 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab';

test.each([
  ['AWS’s keys', 'aws-managed', []],
  ['a key of its own', 'customer-managed', ['SYMMETRIC_DEFAULT', 'ECC_NIST_P256']],
  ['an existing key', { keyArn }, ['ECC_NIST_P256']],
] as const)(
  'under %s the seals of the audit log are signed if a key is the owner’s',
  (_, encryption, specs) => {
    const { data: stack, compute } = synthesise({ settings: { encryption } });
    const made = ofType(stack, 'AWS::KMS::Key').map(({ Properties }) => Properties.KeySpec);
    expect(made.map((spec) => spec ?? 'SYMMETRIC_DEFAULT').toSorted()).toEqual([...specs].toSorted());
    const { Variables } = named(compute, 'AWS::Lambda::Function', 'Functionsjanitor').Properties.Environment;
    expect('AUDIT_SEAL_KEY' in Variables).toBe(specs.length > 0);
  },
);

test('AWS generates the secret of the sandboxes, and it is long', () => {
  const { GenerateSecretString, SecretString } = named(
    data,
    'AWS::SecretsManager::Secret',
    'SandboxSecret',
  ).Properties;
  expect(GenerateSecretString).toEqual({ ExcludePunctuation: true, PasswordLength: 64 });
  expect(SecretString).toBeUndefined();
});

test('whether the deployment sets the role of API Gateway’s logs is a parameter, which a deploy chooses', () => {
  expect(data.Parameters?.['SetsApiLogRole']).toMatchObject({ AllowedValues: ['yes', 'no'], Default: 'yes' });
  const [account] = ofType(data, 'AWS::ApiGateway::Account');
  expect(Reflect.get(account ?? {}, 'Condition')).toMatch(/^AccountIsOurs/);
  const [fixed] = ofType(synthesise({ settings: { ownsApiLogRole: true } }).data, 'AWS::ApiGateway::Account');
  expect(fixed).not.toHaveProperty('Condition');
});

test('a second deployment in a region changes nothing of the account', () => {
  const second = synthesise({ settings: { ownsApiLogRole: false } });
  expect(ofType(second.data, 'AWS::ApiGateway::Account')).toEqual([]);
});
