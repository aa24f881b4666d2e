/** The janitor's reads: only items that are due, from the sparse `due` index, never a scan (L13). */
import { QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { queryPages } from './query-pages.ts';
import { type DueKind, duePartition, dueShards, type Item, isConditionFailed, type Table } from './table.ts';

/** Receives the error of a record that cannot be decoded. */
export type OnUnreadable = (error: unknown) => void;

/** The time for which a record that cannot be decoded is put off, in milliseconds: it would fill the sweeps otherwise. */
const unreadableMs = 300_000;

/** Due records. One that cannot be decoded, since a newer version of the code wrote it, is put off and stops no other. */
export const dueRecords = async <Record>(
  table: Table,
  wanted: Parameters<typeof dueItems>[1] & { readonly onUnreadable: OnUnreadable | undefined },
  decode: (item: Item) => Record,
): Promise<readonly Record[]> => {
  const unreadable: Item[] = [];
  const records = readable(await dueItems(table, wanted), decode, (error, item) => {
    wanted.onUnreadable?.(error);
    unreadable.push(item);
  });
  await Promise.all(unreadable.map((item) => putOff(table, item, wanted.now + unreadableMs)));
  return records;
};

/** The records that can be decoded. */
export const readable = <Record>(
  items: readonly Item[],
  decode: (item: Item) => Record,
  onUnreadable: (error: unknown, item: Item) => void,
): readonly Record[] =>
  items.flatMap((item) => {
    try {
      return [decode(item)];
    } catch (error) {
      onUnreadable(error, item);
      return [];
    }
  });

const putOff = async ({ client, name }: Table, { pk, sk, dueAt }: Item, later: number): Promise<void> => {
  try {
    await client.send(
      new UpdateCommand({
        TableName: name,
        Key: { pk, sk },
        ConditionExpression: 'dueAt = :before',
        UpdateExpression: 'SET dueAt = :later',
        ExpressionAttributeValues: { ':before': dueAt, ':later': later },
      }),
    );
  } catch (error) {
    if (!isConditionFailed(error)) throw error;
  }
};

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
export async function* listedItems(table: Table, kind: DueKind): AsyncGenerator<readonly Item[]> {
  for (let shard = 0; shard < dueShards; shard += 1) {
    const pages = queryPages(table, {
      IndexName: 'due',
      KeyConditionExpression: 'duePk = :pk',
      ExpressionAttributeValues: { ':pk': duePartition(kind, shard) },
    });
    for await (const items of pages) if (items.length > 0) yield items;
  }
}
