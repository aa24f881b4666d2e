/** `TerminalStore` on the one table: an item beside its connection, removed by TTL. */
import { DeleteCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { followerRecord } from '#shared/contracts/stored/session-records.ts';
import type { TerminalKey, TerminalStore } from '#shared/ports/terminals.ts';
import { prefixedItems } from './partition.ts';
import { isConditionFailed, itemOfFailure, keys, namesIn, type Table } from './table.ts';

const keptSeconds = 3600;

export const makeTerminalStore = (table: Table): TerminalStore => {
  const { client, name: TableName } = table;
  const keyOf = ({ connection, process }: TerminalKey) => keys.terminal(connection, process);
  const unlessReplaced = async (write: Promise<unknown>): Promise<boolean> => {
    try {
      await write;
      return true;
    } catch (error) {
      if (isConditionFailed(error)) return false;
      throw error;
    }
  };
  return {
    claim: async (key, follower, now) => {
      const { until } = follower;
      const put = new PutCommand({
        TableName,
        Item: { ...keyOf(key), ...follower, ttl: ttlOf(until) },
        ConditionExpression: 'attribute_not_exists(pk) OR #until < :now',
        ExpressionAttributeNames: { '#until': 'until' },
        ExpressionAttributeValues: { ':now': now },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      });
      try {
        await client.send(put);
        return { isClaimed: true, until };
      } catch (error) {
        if (!isConditionFailed(error)) throw error;
        const held = decodeStored(followerRecord, itemOfFailure(error));
        // The SDK sends a write again whose answer was lost: the run tells such a repeat from another claim.
        return { isClaimed: held.run === follower.run, until: held.until };
      }
    },
    count: async (connection, now) => {
      const items = await prefixedItems(table, keys.terminal(connection, ''));
      return items.filter((item) => decodeStored(followerRecord, item).until >= now).length;
    },
    resume: async (key, run, execution) => {
      const update = new UpdateCommand({
        TableName,
        Key: keyOf(key),
        ConditionExpression: '#run = :run',
        UpdateExpression: 'SET #execution = :execution',
        ExpressionAttributeNames: { '#run': 'run', '#execution': 'execution' },
        ExpressionAttributeValues: { ':run': run, ':execution': execution },
        ReturnValues: 'ALL_NEW',
      });
      try {
        return decodeStored(followerRecord, (await client.send(update)).Attributes).offset;
      } catch (error) {
        if (isConditionFailed(error)) return undefined;
        throw error;
      }
    },
    renew: (key, { run, execution, offset, until }) => {
      const renewed = { run, execution, offset, until, ttl: ttlOf(until) };
      const set = 'SET #offset = :offset, #until = :until, #ttl = :ttl';
      const update = new UpdateCommand({
        TableName,
        Key: keyOf(key),
        ConditionExpression: ofExecution,
        UpdateExpression: set,
        ExpressionAttributeNames: namesIn(`${ofExecution} ${set}`),
        ExpressionAttributeValues: valuesOf(renewed),
      });
      return unlessReplaced(client.send(update));
    },
    release: async (key, run, execution) => {
      const when = execution === undefined ? '#run = :run' : ofExecution;
      const remove = new DeleteCommand({
        TableName,
        Key: keyOf(key),
        ConditionExpression: when,
        ExpressionAttributeNames: namesIn(when),
        ExpressionAttributeValues: valuesOf(execution === undefined ? { run } : { run, execution }),
      });
      await unlessReplaced(client.send(remove));
    },
  };
};

const ofExecution = '#run = :run AND #execution = :execution';

const valuesOf = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).map(([field, value]) => [`:${field}`, value]));

const ttlOf = (until: number): number => Math.ceil(until / 1000) + keptSeconds;
