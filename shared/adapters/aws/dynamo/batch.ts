/** Batches of items, in the table's portions; items that the table left undone for lack of capacity are retried. */
import { BatchGetCommand, BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { Item, Table } from './table.ts';

type Key = { readonly pk: string; readonly sk: string };

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html */
const readKeysMax = 100;
const writeItemsMax = 25;
/** Half a minute of waiting in all. */
const triesMax = 8;
const pauseMs = 100;

const pauseMsMax = (attempt: number): number => pauseMs * 2 ** attempt;

/** The items that exist, in no order. */
export const batchGet = async (
  { client, name, jitter }: Table,
  keys: readonly Key[],
): Promise<readonly Item[]> => {
  const found: Item[] = [];
  for (let from = 0; from < keys.length; from += readKeysMax) {
    let wanted: readonly Key[] = keys.slice(from, from + readKeysMax);
    for (let attempt = 0; wanted.length > 0; attempt += 1) {
      if (attempt === triesMax) throw new Error('the table did not give all items of a batch');
      if (attempt > 0) await jitter(pauseMsMax(attempt));
      const { Responses, UnprocessedKeys } = await client.send(
        new BatchGetCommand({ RequestItems: { [name]: { Keys: [...wanted], ConsistentRead: true } } }),
      );
      found.push(...(Responses?.[name] ?? []));
      wanted = (UnprocessedKeys?.[name]?.Keys ?? []).map(({ pk, sk }) => ({
        pk: String(pk),
        sk: String(sk),
      }));
    }
  }
  return found;
};

export const batchDelete = (table: Table, keys: readonly Key[]): Promise<void> =>
  batchWrite(
    table,
    keys.map((Key) => ({ DeleteRequest: { Key: { ...Key } } })),
  );

export const batchPut = (table: Table, items: readonly Item[]): Promise<void> =>
  batchWrite(
    table,
    items.map((Item) => ({ PutRequest: { Item } })),
  );

type Write =
  | { readonly DeleteRequest: { readonly Key: Key } }
  | { readonly PutRequest: { readonly Item: Item } };

const batchWrite = async ({ client, name, jitter }: Table, writes: readonly Write[]): Promise<void> => {
  for (let from = 0; from < writes.length; from += writeItemsMax) {
    let requests = writes.slice(from, from + writeItemsMax);
    for (let attempt = 0; requests.length > 0; attempt += 1) {
      if (attempt === triesMax) throw new Error('the table did not write all items of a batch');
      if (attempt > 0) await jitter(pauseMsMax(attempt));
      const { UnprocessedItems } = await client.send(
        new BatchWriteCommand({ RequestItems: { [name]: [...requests] } }),
      );
      requests = (UnprocessedItems?.[name] ?? []) as typeof requests;
    }
  }
};
