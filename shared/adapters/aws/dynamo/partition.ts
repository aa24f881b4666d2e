/** Reads of a partition: whole ranges, items of one prefix, and rows that expire page by page, newest first. */
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { queryAll } from './query-pages.ts';
import type { Item, Table } from './table.ts';

/** Without `to`: to the end of the partition. */
type Range = { readonly pk: string; readonly from: string; readonly to?: string };

type Prefix = { readonly pk: string; readonly sk: string };

/** Items whose sort key is not below `from`, nor above `to`. */
export const partitionItems = (table: Table, { pk, from, to }: Range): Promise<readonly Item[]> =>
  queryAll(table, {
    KeyConditionExpression: `pk = :pk AND ${to === undefined ? 'sk >= :from' : 'sk BETWEEN :from AND :to'}`,
    ExpressionAttributeValues: { ':pk': pk, ':from': from, ...(to === undefined ? {} : { ':to': to }) },
    ConsistentRead: true,
  });

/** Items whose sort key begins as this key's does. */
export const prefixedItems = (table: Table, { pk, sk }: Prefix): Promise<readonly Item[]> =>
  queryAll(table, {
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
    ExpressionAttributeValues: { ':pk': pk, ':sk': sk },
    ConsistentRead: true,
  });

type Page = {
  readonly pk: string;
  /** The common prefix of the sort keys; the rest names the row, and sorts by time. */
  readonly prefix: string;
  /** The last name of the previous page. */
  readonly after?: string | undefined;
  readonly itemsMax: number;
  /** Milliseconds since 1970. */
  readonly now: number;
};

/** Sorts after every possible name. */
const lastName = '~';

/** `next` names the last row of the page, when there are more. */
export const newestKept = async (
  { client, name: TableName }: Table,
  { pk, prefix, after = lastName, itemsMax, now }: Page,
): Promise<{ readonly items: readonly Item[]; readonly next?: string }> => {
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName,
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
      ExpressionAttributeValues: { ':pk': pk, ':from': prefix, ':to': `${prefix}${after}` },
      ConsistentRead: true,
      ScanIndexForward: false,
      // `after` itself may be among them.
      Limit: itemsMax + 2,
    }),
  );
  const later = Items.filter(({ sk }) => sk !== `${prefix}${after}`);
  // Expired rows are read until the table removes them (A24).
  const kept = later.filter(({ ttl }) => Number(ttl) * 1000 > now);
  const items = kept.slice(0, itemsMax);
  const last = items.at(-1)?.['sk'];
  const hasMore = kept.length > itemsMax && last !== undefined;
  return { items, ...(hasMore ? { next: String(last).slice(prefix.length) } : {}) };
};
