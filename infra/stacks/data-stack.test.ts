import { expect, test } from 'vitest';
import { named, ofType, synthesise } from '../synthesise.ts';

const { data } = synthesise();
const table = named(data, 'AWS::DynamoDB::GlobalTable', 'Table');

test('the table has the keys and indexes the stores are written for', () => {
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

test('neither a deploy nor the end of the stack deletes data', () => {
  expect(table.DeletionPolicy).toBe('Retain');
  expect(table.Properties.Replicas[0].DeletionProtectionEnabled).toBe(true);
  expect(named(data, 'AWS::SecretsManager::Secret', 'SandboxSecret').DeletionPolicy).toBe('Retain');
});

test('the secret of the sandboxes is made by AWS, and long', () => {
  const { GenerateSecretString, SecretString } = named(
    data,
    'AWS::SecretsManager::Secret',
    'SandboxSecret',
  ).Properties;
  expect(GenerateSecretString).toEqual({ ExcludePunctuation: true, PasswordLength: 64 });
  expect(SecretString).toBeUndefined();
});

test('a second deployment of a region leaves the account alone', () => {
  const second = synthesise({ settings: { ownsApiLogRole: false } });
  expect(ofType(second.data, 'AWS::ApiGateway::Account')).toEqual([]);
});
