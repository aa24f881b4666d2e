/**
 * The platform's one table: its definition, which the CDK app declares too, its creation and the deletion of expired
 * items.
 *
 * An existing table is never changed. One whose keys or indexes differ belongs to another version of the program and
 * is refused: there is no migration here.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  CreateTableCommand,
  type CreateTableCommandInput,
  DeleteItemCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  paginateScan,
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

/** Milliseconds: from the start to the first sweep, and from the end of each to the next. */
export type SweepTimes = { readonly first: number; readonly every: number };

type SweepOptions = {
  readonly table: CreateTableCommandInput;
  readonly attribute: string;
  readonly times: SweepTimes;
};

/**
 * Deletes expired items now and then, which DynamoDB does within days and dynoxide does not do (A24).
 *
 * This is the one scan of the program, and the right place for one: DynamoDB's own process reads every partition too,
 * it costs no request units, and no index should exist for the emulator alone. The condition on the delete protects an
 * item that was renewed after it was read.
 */
export const startSweep = (client: DynamoDBClient, options: SweepOptions): { stop: () => Promise<void> } => {
  const stopped = new AbortController();
  const sweep = async (): Promise<void> => {
    for (let wait = options.times.first; ; wait = options.times.every) {
      await sleep(wait, undefined, { signal: stopped.signal, ref: false });
      await sweepExpired(client, options).catch(() => undefined);
    }
  };
  const ended = sweep().catch(() => undefined);
  return {
    stop: () => {
      stopped.abort();
      return ended;
    },
  };
};

/** Not reported when it fails: the next sweep finds the same items, and readers filter by time anyway. */
export const sweepExpired = async (
  client: DynamoDBClient,
  { table, attribute }: Pick<SweepOptions, 'table' | 'attribute'>,
): Promise<void> => {
  const keys = (table.KeySchema ?? []).map((key) => String(key.AttributeName));
  const expired = {
    names: { '#expiry': attribute },
    values: { ':now': { N: String(Math.floor(Date.now() / 1000)) } },
    expression: '#expiry < :now',
  };
  const pages = paginateScan(
    { client },
    {
      TableName: table.TableName,
      FilterExpression: expired.expression,
      ExpressionAttributeNames: expired.names,
      ExpressionAttributeValues: expired.values,
    },
  );
  for await (const page of pages) {
    for (const item of page.Items ?? []) {
      const command = new DeleteItemCommand({
        TableName: table.TableName,
        Key: pick(item, keys),
        ConditionExpression: expired.expression,
        ExpressionAttributeNames: expired.names,
        ExpressionAttributeValues: expired.values,
      });
      await client.send(command).catch(ignoreRenewal);
    }
  }
};

type Item = Record<string, AttributeValue>;

const pick = (item: Item, names: readonly string[]): Item =>
  Object.fromEntries(Object.entries(item).filter(([name]) => names.includes(name)));

const ignoreRenewal = (cause: unknown): void => {
  if (!(cause instanceof ConditionalCheckFailedException)) throw cause;
};
