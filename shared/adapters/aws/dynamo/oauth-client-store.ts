/**
 * `ClientStore` and `CodeStore` on the one table. Registrations are counted by the hour in the transaction that stores them, so
 * that a flood of them ends at a number (OA7).
 */
import { GetCommand, PutCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { codeRecord, oauthClientRecord } from '#shared/contracts/stored/access-records.ts';
import { addressRegistrationsMax, registrationsMax } from '#shared/domain/oauth/grant.ts';
import type { ClientStore, CodeStore } from '#shared/ports/oauth.ts';
import { useOnce } from './single-use.ts';
import { isConditionFailed, keys, type Table } from './table.ts';
import { transact } from './transaction.ts';

const hourMs = 3_600_000;
/** A used code is kept this long, so that a replay is seen. */
const replaySeconds = 86_400;

const seconds = (epochMs: number): number => Math.ceil(epochMs / 1000);

export const makeClientStore = (table: Table): ClientStore => ({
  register: async (client, address) => {
    const { createdAt, expiresAt } = client;
    const hour = Math.floor(createdAt / hourMs);
    const count = (from: string, max: number) => ({
      Update: {
        TableName: table.name,
        Key: keys.registrations(from, hour),
        UpdateExpression: 'SET #ttl = :ttl ADD #count :one',
        ConditionExpression: 'attribute_not_exists(#count) OR #count < :max',
        ExpressionAttributeNames: { '#count': 'count', '#ttl': 'ttl' },
        ExpressionAttributeValues: { ':one': 1, ':max': max, ':ttl': seconds((hour + 2) * hourMs) },
      },
    });
    const Item = { ...keys.oauthClient(client.id), ...client, ttl: seconds(expiresAt) };
    const TransactItems = [
      count('all', registrationsMax),
      count(`from-${address}`, addressRegistrationsMax),
      { Put: { TableName: table.name, Item, ConditionExpression: 'attribute_not_exists(pk)' } },
    ];
    return (await transact(table, new TransactWriteCommand({ TransactItems }))) === 'done';
  },
  get: async (id) => {
    const Key = keys.oauthClient(id);
    const { Item } = await table.client.send(
      new GetCommand({ TableName: table.name, Key, ConsistentRead: true }),
    );
    return Item && decodeStored(oauthClientRecord, Item);
  },
  keep: async (id, expiresAt) => {
    await ifItHolds(
      table,
      new UpdateCommand({
        TableName: table.name,
        Key: keys.oauthClient(id),
        UpdateExpression: 'SET expiresAt = :at, #ttl = :ttl',
        ConditionExpression: 'expiresAt < :at',
        ExpressionAttributeNames: { '#ttl': 'ttl' },
        ExpressionAttributeValues: { ':at': expiresAt, ':ttl': seconds(expiresAt) },
      }),
    );
  },
});

export const makeCodeStore = (table: Table): CodeStore => ({
  put: async (hash, code) => {
    const Item = { ...keys.oauthCode(hash), ...code, ttl: seconds(code.expiresAt) + replaySeconds };
    await table.client.send(new PutCommand({ TableName: table.name, Item }));
  },
  get: async (hash) => {
    const Key = keys.oauthCode(hash);
    const { Item } = await table.client.send(
      new GetCommand({ TableName: table.name, Key, ConsistentRead: true }),
    );
    return Item && decodeStored(codeRecord, Item);
  },
  use: async (hash, now) => {
    const Key = keys.oauthCode(hash);
    if ((await useOnce(table, Key, now)) !== undefined) return true;
    await ifItHolds(
      table,
      new UpdateCommand({
        TableName: table.name,
        Key,
        UpdateExpression: 'SET replayedAt = :now',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':now': now },
      }),
    );
    return false;
  },
});

const ifItHolds = async ({ client }: Table, command: UpdateCommand): Promise<boolean> => {
  try {
    await client.send(command);
    return true;
  } catch (error) {
    if (isConditionFailed(error)) return false;
    throw error;
  }
};
