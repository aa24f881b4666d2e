/** Reading a partition of schedules: whole ranges, and the history page by page, newest first. */
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { runName } from '#shared/domain/schedule/run.ts';
import type { ScheduleStore } from '#shared/ports/schedule-store.ts';
import { runFrom } from './schedule-items.ts';
import { type Item, keys, type Table } from './table.ts';

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

/** After every run there can be. */
const lastRun = '~';

export const history =
  ({ client, name: TableName }: Table): ScheduleStore['history'] =>
  async (id, { after = lastRun, itemsMax, now }) => {
    const { Items = [] } = await client.send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
        ExpressionAttributeValues: {
          ':pk': keys.schedule(id).pk,
          ':from': keys.endedRun(id, '').sk,
          ':to': keys.endedRun(id, after).sk,
        },
        ConsistentRead: true,
        ScanIndexForward: false,
        // `after` itself may be among them.
        Limit: itemsMax + 2,
      }),
    );
    const later = Items.filter(({ sk }) => sk !== keys.endedRun(id, after).sk);
    // What has expired is read until the table removes it (A24).
    const kept = later.filter(({ ttl }) => Number(ttl) * 1000 > now).map(runFrom);
    const runs = kept.slice(0, itemsMax);
    const last = runs.at(-1);
    return { runs, ...(kept.length > itemsMax && last !== undefined ? { next: runName(last) } : {}) };
  };
