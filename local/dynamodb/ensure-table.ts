/**
 * The table, made if it is missing and never changed if it is there.
 *
 * A table whose keys or indexes differ from the wanted ones belongs to another version of the program
 * and is refused: nothing here migrates data.
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

const refuseOtherShape = (existing: TableDescription, wanted: CreateTableCommandInput): void => {
  const shapeThere = shapeOf(existing);
  const shapeWanted = shapeOf(wanted);
  if (shapeThere === shapeWanted) return;
  throw new Error(
    `table ${wanted.TableName} has other keys or indexes: ${shapeThere}, wanted ${shapeWanted}`,
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
