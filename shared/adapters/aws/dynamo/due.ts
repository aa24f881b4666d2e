/** What the janitor reads: only items whose moment has come, from the sparse `due` index, never a scan. */
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { duePartition, dueShards, type Item, type Table } from './table.ts';

export const dueItems = async (
  { client, name }: Table,
  {
    kind,
    now,
    itemsMax,
  }: { readonly kind: 'session' | 'workspace'; readonly now: number; readonly itemsMax: number },
): Promise<readonly Item[]> => {
  const shards = Array.from({ length: dueShards }, (_, shard) =>
    client.send(
      new QueryCommand({
        TableName: name,
        IndexName: 'due',
        KeyConditionExpression: 'duePk = :pk AND dueAt <= :now',
        ExpressionAttributeValues: { ':pk': duePartition(kind, shard), ':now': now },
        Limit: itemsMax,
      }),
    ),
  );
  return (await Promise.all(shards)).flatMap(({ Items = [] }) => Items);
};
