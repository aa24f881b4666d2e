/**
 * `TokenStore` on the one table: a token under its hash, which alone gives access, and a copy under its id, by which it is
 * listed and removed. A token that no longer gives access is therefore listed until everything that ends with it has ended.
 */
import { DeleteCommand, GetCommand, QueryCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { tokenRecord } from '#shared/contracts/stored/access-records.ts';
import { projectOf } from '#shared/domain/access.ts';
import type { AccessToken } from '#shared/domain/principal.ts';
import type { TokenStore } from '#shared/ports/access.ts';
import { ifProjectNotDeleted } from './project-not-deleted.ts';
import { type Item, keys, type Table } from './table.ts';
import { transact } from './transaction.ts';

const listPartition = 'OWNER#deployment#TOKEN';

export const tokenFrom = (item: Item): AccessToken => decodeStored(tokenRecord, item);

export const makeTokenStore = (table: Table): TokenStore => {
  const { client, name } = table;
  return {
    put: async (token) => {
      const ttl = token.expiresAt === undefined ? {} : { ttl: Math.ceil(token.expiresAt / 1000) };
      const ownerSk = `${String(token.createdAt).padStart(13, '0')}#${token.id}`;
      const items = [
        { ...keys.token(token.hash), ...token, ...ttl },
        { ...keys.tokenId(token.id), ...token, ...ttl, ownerPk: listPartition, ownerSk },
      ];
      const project = projectOf(token.scope);
      const TransactItems = [
        ...items.map((Item) => ({ Put: { TableName: name, Item } })),
        ...(project === undefined ? [] : [ifProjectNotDeleted(name, project)]),
      ];
      return (await transact(table, new TransactWriteCommand({ TransactItems }))) === 'done';
    },
    get: async (hash) => {
      const { Item } = await client.send(
        new GetCommand({ TableName: name, Key: keys.token(hash), ConsistentRead: true }),
      );
      return Item && tokenFrom(Item);
    },
    list: async ({ after, itemsMax }) => {
      const { Items = [], LastEvaluatedKey } = await client.send(
        new QueryCommand({
          TableName: name,
          IndexName: 'owner',
          KeyConditionExpression:
            after === undefined ? 'ownerPk = :pk' : 'ownerPk = :pk AND ownerSk < :after',
          ExpressionAttributeValues: {
            ':pk': listPartition,
            ...(after === undefined ? {} : { ':after': after }),
          },
          ScanIndexForward: false,
          Limit: itemsMax,
        }),
      );
      const next = LastEvaluatedKey?.['ownerSk'];
      return { tokens: Items.map(tokenFrom), ...(next === undefined ? {} : { next: String(next) }) };
    },
    remove: async (id) => {
      const { Item } = await client.send(
        new GetCommand({ TableName: name, Key: keys.tokenId(id), ConsistentRead: true }),
      );
      if (Item === undefined) return undefined;
      const { Attributes } = await client.send(
        new DeleteCommand({
          TableName: name,
          Key: keys.token(String(Item['hash'])),
          ReturnValues: 'ALL_OLD',
        }),
      );
      if (Attributes !== undefined) return tokenFrom(Attributes);
      // Under its id, earlier versions stored the hash alone.
      return Item['id'] === undefined ? undefined : tokenFrom(Item);
    },
    forget: async (id) => {
      await client.send(new DeleteCommand({ TableName: name, Key: keys.tokenId(id) }));
    },
  };
};
