/** `FileLinkStore` on the one table; an expired link is removed by DynamoDB some time later. */
import { GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { fileLinkRecord } from '#shared/contracts/stored/access-records.ts';
import type { FileLinkStore } from '#shared/ports/file-links.ts';
import { useOnce } from './single-use.ts';
import { isConditionFailed, keys, type Table } from './table.ts';

export const makeFileLinkStore = (table: Table): FileLinkStore => {
  const { client, name: TableName } = table;
  return {
    put: async (hash, link) => {
      const Item = { ...keys.fileLink(hash), ...link, ttl: Math.ceil(link.expiresAt / 1000) };
      await client.send(new PutCommand({ TableName, Item }));
    },
    get: async (hash) => {
      const { Item } = await client.send(
        new GetCommand({ TableName, Key: keys.fileLink(hash), ConsistentRead: true }),
      );
      return Item && decodeStored(fileLinkRecord, Item);
    },
    use: async (hash, now) => (await useOnce(table, keys.fileLink(hash), now)) !== undefined,
    release: async (hash) => {
      try {
        await client.send(
          new UpdateCommand({
            TableName,
            Key: keys.fileLink(hash),
            UpdateExpression: 'REMOVE usedAt, usedBy',
            ConditionExpression: 'attribute_exists(pk)',
          }),
        );
      } catch (error) {
        if (!isConditionFailed(error)) throw error;
      }
    },
  };
};
