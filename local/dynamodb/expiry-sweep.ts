/**
 * The deletion of expired items, which DynamoDB does within days and dynoxide does not do (A24).
 *
 * This is the one scan of the program, and the right place for one: DynamoDB's own process reads every partition too,
 * it costs no request units, and no index should exist for the emulator alone. The condition on the delete protects an
 * item that was renewed after it was read.
 */
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  type CreateTableCommandInput,
  DeleteItemCommand,
  type DynamoDBClient,
  paginateScan,
} from '@aws-sdk/client-dynamodb';

export type SweepOptions = {
  readonly table: CreateTableCommandInput;
  readonly attribute: string;
  readonly intervalMs: number;
};

export const startSweep = (client: DynamoDBClient, options: SweepOptions): { stop: () => Promise<void> } => {
  let running: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    running = running.then(() => sweepExpired(client, options)).catch(() => undefined);
  }, options.intervalMs);
  timer.unref();
  return {
    stop: () => {
      clearInterval(timer);
      return running;
    },
  };
};

/** A failed sweep is not reported: the next one finds the same items, and readers filter by time anyway. */
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
