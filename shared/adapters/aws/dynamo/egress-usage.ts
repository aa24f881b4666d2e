/**
 * `EgressUsage` in the table: one counter beside each session that reached a host. It is deleted with the session, and expires a
 * month after the last byte, so that one that is written after the deletion does not stay.
 */
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { EgressUsage } from '#shared/ports/egress.ts';
import { keys, type Table } from './table.ts';

const keptSeconds = 30 * 86_400;

export const makeEgressUsage = ({ client, name }: Table, now: () => number): EgressUsage => ({
  read: async (session) => {
    const { Item } = await client.send(
      new GetCommand({ TableName: name, Key: keys.egressUsage(session), ConsistentRead: true }),
    );
    return Number(Item?.['bytes'] ?? 0);
  },
  add: async (session, bytes) => {
    const { Attributes } = await client.send(
      new UpdateCommand({
        TableName: name,
        Key: keys.egressUsage(session),
        UpdateExpression: 'ADD #bytes :bytes SET #ttl = :ttl',
        ExpressionAttributeNames: { '#bytes': 'bytes', '#ttl': 'ttl' },
        ExpressionAttributeValues: { ':bytes': bytes, ':ttl': Math.floor(now() / 1000) + keptSeconds },
        ReturnValues: 'UPDATED_NEW',
      }),
    );
    return Number(Attributes?.['bytes'] ?? bytes);
  },
});
