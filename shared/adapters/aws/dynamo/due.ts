/** The janitor's reads: only items that are due, from the sparse `due` index, never a scan (L13). */
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { type DueKind, duePartition, dueShards, type Item, type Table } from './table.ts';

export const dueItems = async (
  { client, name }: Table,
  { kind, now, itemsMax }: { readonly kind: DueKind; readonly now: number; readonly itemsMax: number },
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
  return (await Promise.all(shards))
    .flatMap(({ Items = [] }) => Items)
    .sort((one, other) => Number(one['dueAt']) - Number(other['dueAt']))
    .slice(0, itemsMax);
};

/** Every item of a kind that is due at any time, page by page. */
export async function* listedItems({ client, name }: Table, kind: DueKind): AsyncGenerator<readonly Item[]> {
  for (let shard = 0; shard < dueShards; shard += 1) {
    let start: Record<string, unknown> | undefined;
    do {
      const { Items = [], LastEvaluatedKey } = await client.send(
        new QueryCommand({
          TableName: name,
          IndexName: 'due',
          KeyConditionExpression: 'duePk = :pk',
          ExpressionAttributeValues: { ':pk': duePartition(kind, shard) },
          ...(start === undefined ? {} : { ExclusiveStartKey: start }),
        }),
      );
      if (Items.length > 0) yield Items;
      start = LastEvaluatedKey;
    } while (start !== undefined);
  }
}
