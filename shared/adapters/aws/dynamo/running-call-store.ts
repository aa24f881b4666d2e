/**
 * `RunningCallStore` on the one table: the calls of one caller in one partition, with a TTL for those that are
 * never removed.
 */
import { DeleteCommand, GetCommand, PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { RunningCall, RunningCallStore } from '#shared/ports/calls.ts';
import { type Item, isConditionFailed, keys, type Table } from './table.ts';

const callFrom = ({ caller, id, startedAt, until }: Item): RunningCall => ({
  caller: String(caller),
  id: String(id),
  startedAt: Number(startedAt),
  until: Number(until),
});

export const makeRunningCallStore = ({ client, name }: Table): RunningCallStore => ({
  put: async (call) => {
    const Item = { ...keys.runningCall(call.caller, call.id), ...call, ttl: Math.ceil(call.until / 1000) };
    await client.send(new PutCommand({ TableName: name, Item }));
  },
  find: async (caller, now) => {
    const { Items = [] } = await client.send(
      new QueryCommand({
        TableName: name,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': keys.runningCall(caller, '').pk },
        ConsistentRead: true,
      }),
    );
    return Items.map(callFrom).filter(({ until }) => until > now);
  },
  cancel: async ({ caller, id }) => {
    const update = new UpdateCommand({
      TableName: name,
      Key: keys.runningCall(caller, id),
      ConditionExpression: 'attribute_exists(pk)',
      UpdateExpression: 'SET isCancelled = :true',
      ExpressionAttributeValues: { ':true': true },
    });
    await client.send(update).catch((error: unknown) => {
      if (!isConditionFailed(error)) throw error;
    });
  },
  isCancelled: async ({ caller, id }) => {
    const Key = keys.runningCall(caller, id);
    const { Item } = await client.send(new GetCommand({ TableName: name, Key, ConsistentRead: true }));
    return Item?.['isCancelled'] === true;
  },
  remove: async ({ caller, id }) => {
    await client.send(new DeleteCommand({ TableName: name, Key: keys.runningCall(caller, id) }));
  },
});
