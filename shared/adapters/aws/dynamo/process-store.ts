/** `ProcessStore` on the one table: a record beside its workspace, removed by TTL. */
import { DeleteCommand, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { processRecord } from '#shared/contracts/stored/workspace-records.ts';
import { processRecordSecondsMax } from '#shared/domain/limits.ts';
import type { ProcessRecord } from '#shared/domain/process.ts';
import type { ProcessStore } from '#shared/ports/processes.ts';
import { prefixedItems } from './partition.ts';
import { type Item, isConditionFailed, keys, type Table } from './table.ts';

export const makeProcessStore = (table: Table): ProcessStore => {
  const { client, name: TableName } = table;
  const unlessRefused = async (write: Promise<unknown>): Promise<void> => {
    await write.catch((error: unknown) => {
      if (!isConditionFailed(error)) throw error;
    });
  };
  return {
    put: (record) => {
      const { id, workspace, startedAt } = record;
      const ttl = Math.ceil(startedAt / 1000) + processRecordSecondsMax;
      const Item = { ...keys.process(workspace, id), ...record, ttl };
      return unlessRefused(
        client.send(new PutCommand({ TableName, Item, ConditionExpression: 'attribute_not_exists(pk)' })),
      );
    },
    get: async (workspace, id) => {
      const Key = keys.process(workspace, id);
      const { Item } = await client.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
      return Item && recordFrom(Item);
    },
    list: async (workspace, session) => {
      const items = await prefixedItems(table, keys.process(workspace, ''));
      return items
        .map(recordFrom)
        .filter((record) => session === undefined || record.session === session)
        .toSorted((one, other) => one.startedAt - other.startedAt);
    },
    end: (workspace, id, { at, exitCode }) =>
      unlessRefused(
        client.send(
          new UpdateCommand({
            TableName,
            Key: keys.process(workspace, id),
            ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(endedAt)',
            UpdateExpression: `SET endedAt = :at${exitCode === undefined ? '' : ', exitCode = :exitCode'}`,
            ExpressionAttributeValues: {
              ':at': at,
              ...(exitCode === undefined ? {} : { ':exitCode': exitCode }),
            },
          }),
        ),
      ),
    remove: async (workspace, id) => {
      await client.send(new DeleteCommand({ TableName, Key: keys.process(workspace, id) }));
    },
  };
};

const recordFrom = (item: Item): ProcessRecord => decodeStored(processRecord, item);
