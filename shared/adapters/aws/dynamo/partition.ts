/** Reads of a partition: whole ranges, and rows that expire page by page, newest first. */
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Item, Table } from './table.ts';

type Range = { readonly pk: string; readonly from: string; readonly to: string };

/** Items whose sort key is not below `from`, nor above `to`. */
export const partitionItems = async (
  { client, name: TableName }: Table,
  { pk, from, to }: Range,
): Promise<readonly Item[]> => {
  const items: Item[] = [];
  let start: Record<string, unknown> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
        ExpressionAttributeValues: { ':pk': pk, ':from': from, ':to': to },
        ConsistentRead: true,
        ...(start === undefined ? {} : { ExclusiveStartKey: start }),
      }),
    );
    items.push(...Items);
    start = LastEvaluatedKey;
  } while (start !== undefined);
  return items;
};

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
