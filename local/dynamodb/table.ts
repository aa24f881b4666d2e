/**
 * The platform's one table: its definition, which the CDK app declares too, and its creation if it is missing.
 *
 * An existing table is never changed. One whose keys or indexes differ belongs to another version of the program and
 * is refused: there is no migration here.
 */
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceNotFoundException,
  type TableDescription,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';

const tableReadySecondsMax = 60;

export const ensureTable = async (
  client: DynamoDBClient,
  table: CreateTableCommandInput,
  expiryAttribute: string,
): Promise<void> => {
  const existing = await describe(client, table);
  if (existing !== undefined) {
    refuseOtherShape(existing, table);
    return;
  }
  await client.send(new CreateTableCommand(table));
  await waitUntilTableExists(
    { client, maxWaitTime: tableReadySecondsMax, minDelay: 1, maxDelay: 5 },
    { TableName: table.TableName },
  );
  await client.send(
    new UpdateTimeToLiveCommand({
      TableName: table.TableName,
      TimeToLiveSpecification: { AttributeName: expiryAttribute, Enabled: true },
    }),
  );
};

const describe = async (
  client: DynamoDBClient,
  { TableName }: CreateTableCommandInput,
): Promise<TableDescription | undefined> => {
  try {
    return (await client.send(new DescribeTableCommand({ TableName }))).Table;
  } catch (cause) {
    if (cause instanceof ResourceNotFoundException) return undefined;
    throw cause;
  }
};

const refuseOtherShape = (existing: TableDescription, required: CreateTableCommandInput): void => {
  const existingShape = shapeOf(existing);
  const requiredShape = shapeOf(required);
  if (existingShape === requiredShape) return;
  throw new Error(
    `table ${required.TableName} has other keys or indexes: ${existingShape}, expected ${requiredShape}`,
  );
};

type Shaped = Pick<TableDescription, 'KeySchema' | 'GlobalSecondaryIndexes'>;

const shapeOf = ({ KeySchema, GlobalSecondaryIndexes }: Shaped | CreateTableCommandInput): string => {
  const keys = (schema: TableDescription['KeySchema']) =>
    (schema ?? []).map((key) => key.AttributeName).join('+');
  const indexes = (GlobalSecondaryIndexes ?? []).map(
    (index) => `${index.IndexName}(${keys(index.KeySchema)})`,
  );
  return [keys(KeySchema), ...indexes.sort()].join(' ');
};

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
