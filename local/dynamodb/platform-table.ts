/** The platform's one table, as a request that makes it; the CDK app declares the same. */
import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';

export const platformTable = (TableName: string): CreateTableCommandInput => ({
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [
    { AttributeName: 'pk', AttributeType: 'S' },
    { AttributeName: 'sk', AttributeType: 'S' },
    { AttributeName: 'duePk', AttributeType: 'S' },
    { AttributeName: 'dueAt', AttributeType: 'N' },
    { AttributeName: 'ownerPk', AttributeType: 'S' },
    { AttributeName: 'ownerSk', AttributeType: 'S' },
  ],
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'due',
      KeySchema: [
        { AttributeName: 'duePk', KeyType: 'HASH' },
        { AttributeName: 'dueAt', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'ALL' },
    },
    {
      IndexName: 'owner',
      KeySchema: [
        { AttributeName: 'ownerPk', KeyType: 'HASH' },
        { AttributeName: 'ownerSk', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'ALL' },
    },
  ],
});
