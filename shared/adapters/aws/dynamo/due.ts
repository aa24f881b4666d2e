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

/** As `readable`, for items that were asked for by their ids; without a receiver the first that cannot be decoded is an error. */
export const readableByIds = <Id, Record>(
  items: readonly Item[],
  decode: (item: Item) => Record,
  onUnreadable: ((error: unknown, id: Id) => void) | undefined,
): readonly Record[] =>
  onUnreadable === undefined
    ? items.map(decode)
    : readable(items, decode, (error, { id }) => onUnreadable(error, id as Id));

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

/**
 * As many as are due, up to the limit; the oldest of each shard. Each shard is asked for its part of the limit, and those that
 * have more for the rest of it: to ask each for all would read every item of a backlog as many times as there are shards.
 */
export const dueItems = async (
  { client, name }: Table,
  { kind, now, itemsMax }: { readonly kind: DueKind; readonly now: number; readonly itemsMax: number },
): Promise<readonly Item[]> => {
  const found: Item[] = [];
  let shards: readonly Shard[] = shardsOf(kind);
  while (shards.length > 0 && found.length < itemsMax) {
    const Limit = Math.ceil((itemsMax - found.length) / shards.length);
    const read = async ({ pk, after }: Shard): Promise<readonly Shard[]> => {
      const { Items = [], LastEvaluatedKey } = await client.send(
        new QueryCommand({
          TableName: name,
          ...dueBy(pk, now),
          Limit,
          ...(after === undefined ? {} : { ExclusiveStartKey: after }),
        }),
      );
      found.push(...Items);
      return LastEvaluatedKey === undefined ? [] : [{ pk, after: LastEvaluatedKey }];
    };
    shards = (await inTurns(shards, read)).flat();
  }
  return found.sort((one, other) => Number(one['dueAt']) - Number(other['dueAt'])).slice(0, itemsMax);
};

/** Shards asked at once: a thread that sends a request to each of all at once does nothing else in that time. */
const shardsAtOnce = 4;

const inTurns = async <T>(
  shards: readonly Shard[],
  read: (shard: Shard) => Promise<T>,
): Promise<readonly T[]> => {
  const all: T[] = [];
  for (let next = 0; next < shards.length; next += shardsAtOnce)
    all.push(...(await Promise.all(shards.slice(next, next + shardsAtOnce).map(read))));
  return all;
};

type Shard = { readonly pk: string; readonly after?: Record<string, unknown> };

const shardsOf = (kind: DueKind): readonly Shard[] =>
  Array.from({ length: dueShards[kind] }, (_, shard) => ({ pk: duePartition(kind, shard) }));

const dueBy = (pk: string, now: number) => ({
  IndexName: 'due',
  KeyConditionExpression: 'duePk = :pk AND dueAt <= :now',
  ExpressionAttributeValues: { ':pk': pk, ':now': now },
});

/** All that is due, page by page: each item once, whatever becomes of those before it. */
export async function* duePages(
  table: Table,
  { kind, now, pageMax }: { readonly kind: DueKind; readonly now: number; readonly pageMax: number },
): AsyncGenerator<readonly Item[]> {
  for (const { pk } of shardsOf(kind))
    for await (const items of queryPages(table, { ...dueBy(pk, now), Limit: pageMax }))
      if (items.length > 0) yield items;
}

/** Every item of a kind that is due at any time, page by page. */
export async function* listedItems(table: Table, kind: DueKind): AsyncGenerator<readonly Item[]> {
  for (const { pk } of shardsOf(kind)) {
    const pages = queryPages(table, {
      IndexName: 'due',
      KeyConditionExpression: 'duePk = :pk',
      ExpressionAttributeValues: { ':pk': pk },
    });
    for await (const items of pages) if (items.length > 0) yield items;
  }
}
